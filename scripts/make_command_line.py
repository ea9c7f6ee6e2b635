"""Write docs/reference/command_line.md: the help of every command, as click prints it.

python scripts/make_command_line.py           writes the page
python scripts/make_command_line.py --check   exits with 1 if the page is not up to date
"""

from collections.abc import Iterator
from pathlib import Path

import click
import generated_page

from deepbench_ops import cli
from deepbench_ops.commands.time import SHARED_TITLE, FamilyCommand

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "command_line.md"
WIDTH = 96

ROOT = click.Context(
    cli.cli, info_name="deepbench", terminal_width=WIDTH, help_option_names=["-h", "--help"]
)
"""Context of `deepbench`; the contexts of its commands inherit width and help options."""

INTRODUCTION = """\
# The command line

[Common to all commands](conventions.md): project folder, which machine is meant, exit
status, width of tables, run conditions. This page is written by `scripts/make_command_line.py`
from the help texts of the program.
"""


def page() -> str:
    """Return the page: the sections of `deepbench --help` with the help of each command."""
    parts = [INTRODUCTION]
    titles = {next(iter(commands)): title for title, commands in cli.SECTIONS.items()}
    for context in contexts():
        name = context.info_name if context.parent in (None, ROOT) else None
        if name in titles:
            parts.append(f"## {titles[name]}\n")
        parts.append(f"{'##' if context.parent is None else '###'} {context.command_path}\n")
        parts.append(f"```text\n{text_of(context)}\n```\n")
        if context.command_path == "deepbench time":
            parts.append(f"The commands of all families have these options too:\n\n{shared()}")
    return "\n".join(parts)


def text_of(context: click.Context) -> str:
    """Return the help of a command; of a family of `deepbench time` without the shared options."""
    text = context.command.get_help(context).strip()
    return text.partition(SHARED_TITLE)[0].strip()


def shared() -> str:
    """Return the options that all families of `deepbench time` share, as a block."""
    context = next(each for each in contexts() if isinstance(each.command, FamilyCommand))
    options = context.command.get_help(context).partition(f"{SHARED_TITLE}:\n")[2]
    return f"```text\n{options.rstrip()}\n```\n"


def contexts(parent: click.Context = ROOT) -> Iterator[click.Context]:
    """Yield the contexts of a command and of all its subcommands."""
    yield parent
    if isinstance(parent.command, click.Group):
        for name in parent.command.list_commands(parent):
            command = parent.command.get_command(parent, name)
            assert command is not None, name
            yield from contexts(click.Context(command, parent, info_name=name))


if __name__ == "__main__":
    generated_page.write_or_check(PAGE, page, "python scripts/make_command_line.py")
