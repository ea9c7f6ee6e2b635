"""Options that several subcommands share."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import click


def several(option: str, name: str, names: Sequence[str]) -> Callable[..., Any]:
    """Return an option that picks some of `names`, and may be repeated."""
    return click.option(
        option,
        name,
        metavar=option[2].upper(),
        multiple=True,
        help=f"Only this {option[2:]}; may be repeated: {', '.join(names)}.",
    )


results_folder = click.option(
    "--results",
    metavar="DIRECTORY",
    type=click.Path(path_type=Path),
    default=Path("results"),
    show_default=True,
    help="The results folder.",
)

printed_as = click.option(
    "--format",
    "form",
    type=click.Choice(["table", "markdown", "csv", "json"]),
    default="table",
    show_default=True,
    help="How it is printed.",
)


def say(lines: Iterable[str], form: str = "table") -> None:
    """Print lines apart from the output proper, on standard error, where a person reads `form`."""
    for line in lines if form in ("table", "markdown") else ():
        click.echo(line, err=True)


def say_settings() -> None:
    """Name the settings from outside, for commands that measure, before they do."""
    from deepbench_ops.measure import settings

    say(filter(None, [settings.notice(settings.of_this_process())]))
