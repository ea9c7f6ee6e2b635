"""Options that several subcommands share, and the choice of their machine."""

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import date
from pathlib import Path
from typing import Any

import click

from deepbench_ops import project
from deepbench_ops.commands.terminal_tables import WIDE
from deepbench_ops.errors import DeepbenchError, Interrupted, NoAnswer

SELECTED = 'asv run --bench "$(deepbench select headline --precision float32)"'
MEASURE = f"some with {SELECTED}"
"""Advice for a machine without results: a run of some minutes."""


def several(option: str, name: str, names: Sequence[str]) -> Callable[..., Any]:
    """Return an option that picks some of `names`, and may be repeated."""
    return click.option(
        option,
        name,
        metavar=option[2].upper(),
        multiple=True,
        help=f"Only this {option[2:]}; may be repeated: {', '.join(names)}.",
    )


def precision_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option --precision, which picks one."""
    from deepbench_ops.problems import ALL_PRECISIONS

    return one_precision(ALL_PRECISIONS)(command)


def one_precision(names: Sequence[str]) -> Callable[..., Any]:
    """Return the option --precision for one of `names`: float32 unless given, or the first."""
    return click.option(
        "--precision",
        type=click.Choice(names),
        default="float32" if "float32" in names else names[0],
        show_default=True,
        help="The precision.",
    )


class EitherSpelling(click.Choice[str]):
    """Choice of names that may be written with dashes or with underscores."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name as it is spelt among the choices."""
        plain = str(value).replace("-", "_")
        spelt = (name for name in self.choices if name.replace("-", "_") == plain)
        return super().convert(next(spelt, value), param, ctx)


class Day(click.ParamType):
    """A day such as 2018-04-03."""

    name = "day"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> date:
        """Return the day. Fails with an example for any other text."""
        try:
            return date.fromisoformat(value)
        except ValueError:
            self.fail(f"{value!r} is no day: write it as 2018-04-03", param, ctx)


def problem_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options --selection and --family, which pick problems."""
    from deepbench_ops.problems import FAMILIES, SELECTIONS

    family = click.option("--family", type=EitherSpelling(FAMILIES), help="Only this family.")
    return click.option(
        "--selection",
        type=EitherSpelling(SELECTIONS),
        default="headline",
        show_default=True,
        help="The problems.",
    )(family(command))


def kernel_ids(text: str) -> Callable[..., Any]:
    """Return the option --problem, an id, which may be repeated."""
    return click.option("--problem", "ids", metavar="ID", multiple=True, help=text)


def most_rounds(default: int, text: str) -> Callable[..., Any]:
    """Return the option --rounds: of fresh processes, three or more, since fewer have no spread."""
    return click.option(
        "--rounds",
        metavar="N",
        type=click.IntRange(min=3),
        default=default,
        show_default=True,
        help=text,
    )


release_option = click.option(
    "--release",
    metavar="RELEASE",
    help="In the environment of this release, such as torch-2.13.0, of the project's table.",
)

operation_option = click.option(
    "--operation",
    metavar="O",
    default="forward",
    show_default=True,
    help="The pass, such as forward or backward_data.",
)


def device_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option --device, which picks where a kernel runs."""
    from deepbench_ops.backends import DEVICES

    return click.option(
        "--device",
        type=click.Choice(DEVICES),
        default="cpu",
        show_default=True,
        help="Where it runs.",
    )(command)


def _in_project(context: click.Context, option: click.Parameter, given: Path | None) -> Path:
    return project.results() if given is None else given


def _if_in_project(
    context: click.Context, option: click.Parameter, given: Path | None
) -> Path | None:
    return given or (project.results() if project.find(Path.cwd()) else None)


class _ResultsFolder(click.Path):
    """A folder of results that exists."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return its path. Raises DeepbenchError where there is no such folder."""
        if not Path(value).exists():
            raise DeepbenchError(f"--results {value}: no such folder: name one that exists")
        return super().convert(value, param, ctx)


def _results(
    callback: Callable[..., Path | None],
    condition: str = "",
    kind: type[click.Path] = _ResultsFolder,
) -> Callable[..., Any]:
    return click.option(
        "--results",
        metavar="DIRECTORY",
        type=kind(path_type=Path, file_okay=False),
        callback=callback,
        help=f"The folder of results.  [default: results/ of the project folder{condition}]",
    )


results_folder = _results(_in_project)


results_folder_to_write = _results(_in_project, kind=click.Path)
"""For commands that fill it, or plan that, and make it where it is missing."""


results_folder_if_any = _results(_if_in_project, ", if any")
"""For commands that need no project folder; None outside of one."""


store_folder = click.option(
    "--store",
    "folder",
    metavar="DIRECTORY",
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder of the store.  [default: store/ next to the results]",
)


def _keep_wide(context: click.Context, option: click.Parameter, given: bool) -> None:
    context.meta[WIDE] = given


wide_tables = click.option(
    "--wide",
    is_flag=True,
    expose_value=False,
    callback=_keep_wide,
    help="Tables with all columns, wider than the terminal.",
)


def format_option(forms: Sequence[str], default: str | None, help: str) -> Callable[..., Any]:
    """Return the option --format with these forms."""
    return click.option(
        "--format",
        "form",
        type=click.Choice(forms),
        default=default,
        show_default=True,
        help=help,
    )


def printed_as(*forms: str) -> Callable[..., Any]:
    """Return the options --format, with the first form as default, and --wide."""
    formats = format_option(forms, forms[0], "How it is printed.")
    return lambda command: formats(wide_tables(command))


def machine_with_results(results: Path, name: str | None, wanted: str = MEASURE) -> str:
    """Return the machine that a command is about: the one named, else this machine.

    wanted: the results that it should have, as the end of "measure ...". Raises DeepbenchError
    for an unknown name, and NoAnswer where the machine has none.
    """
    from deepbench_ops.analysis import point_reading
    from deepbench_ops.asv_adapter import machine_entry
    from deepbench_ops.problems.suggestions import unknown

    known = point_reading.machines(results)
    if not known:
        raise NoAnswer(f"{results} holds no results of any machine: measure {wanted}")
    whose = name or machine_entry.default_name()
    if whose in known:
        return whose
    if name is not None:
        raise unknown("machine", name, known)
    raise NoAnswer(
        f"this machine, {whose}, has no results in {results}: measure {wanted}; {len(known)} other"
        f" machines have some, such as {known[0]}"
    )


def say(lines: Iterable[str], form: str = "table") -> None:
    """Print lines apart from the output proper, on standard error, where a person reads `form`."""
    for line in lines if form in ("table", "markdown") else ():
        click.echo(line, err=True)


def say_settings() -> None:
    """Name the external settings and a limit of processor time, for commands that measure, before
    they do."""
    from deepbench_ops.measure import library_variables, processor_quota, threads

    settings = library_variables.notice(library_variables.of_this_process())
    say(filter(None, [settings, processor_quota.notice(threads.wanted())]))


def measure_alone() -> None:
    """Lock the project until this command ends: no other one measures in it meanwhile.

    Raises DeepbenchError naming the one that measures already. Outside a project a command that
    measures on the same machine is named in a warning.
    """
    click.get_current_context().find_root().with_resource(measuring_lock())


def measuring_lock() -> AbstractContextManager[None]:
    """Return the lock of commands that measure in the project."""
    from deepbench_ops.storage import locks

    folder = project.find(Path.cwd())
    doing = " ".join(["deepbench", *sys.argv[1:]])
    return locks.measuring(folder / ".asv" if folder else None, doing)


@contextmanager
def keeping(what: Callable[[], str]) -> Iterator[None]:
    """Name the kept work, the text of `what`, where the block ends early.

    Ctrl-C becomes Interrupted, and a file that cannot be written a DeepbenchError.
    """
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted(what()) from None
    except BrokenPipeError:
        raise
    except OSError as error:
        raise DeepbenchError(f"{error.filename}: {error.strerror}; {what()}") from None


def percentage(context: click.Context, option: click.Parameter, given: str | None) -> float | None:
    """Return the share of a text such as 1 or 1%; None where none is given."""
    if given is None:
        return None
    try:
        share = float(given.removesuffix("%")) / 100
    except ValueError:
        share = math.nan
    if not 0 < share < 1:
        raise click.BadParameter(f"{given!r} is no percentage between 0 and 100: write 1%")
    return share
