"""`deepbench check`: every kernel on small problems, its error next to its tolerance."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, fields, replace
from functools import partial
from typing import TYPE_CHECKING

import click

from deepbench_ops.backends import DEVICES, NAMES
from deepbench_ops.commands import progress_line, terminal_tables
from deepbench_ops.commands.options import printed_as, release_option, several
from deepbench_ops.commands.output_format import show
from deepbench_ops.errors import DeepbenchError, NoAnswer
from deepbench_ops.exchange.spreadsheet_text import guarded_csv
from deepbench_ops.problems import ALL_PRECISIONS, FAMILIES
from deepbench_ops.problems.precision import precision as known_precision
from deepbench_ops.problems.problem import FIRST_CALL
from deepbench_ops.problems.problem_lists import TYPES, family_name
from deepbench_ops.problems.suggestions import unknown
from deepbench_ops.run_conditions import LAYOUT

if TYPE_CHECKING:
    from deepbench_ops.backends.backend_check_table import CheckResult
    from deepbench_ops.distributed.check_rows import Selection

COLUMNS = (
    terminal_tables.Column("framework"),
    terminal_tables.Column("device", drop=4),
    terminal_tables.Column("family"),
    terminal_tables.Column("operation", wrap=8),
    terminal_tables.Column("precision"),
    terminal_tables.Column("layout", drop=2),
    terminal_tables.Column("error", right=True, drop=1),
    terminal_tables.Column("tolerance", right=True, drop=3),
    terminal_tables.Column("verdict"),
    terminal_tables.Column("reason", wrap=16),
)

ANY_WRONG = 1
"""The exit status when a kernel computes a wrong result."""


@click.command()
@several("--framework", "frameworks", NAMES)
@several("--device", "devices", DEVICES)
@several("--family", "families", tuple(TYPES))
@several("--precision", "precisions", ALL_PRECISIONS)
@several("--layout", "layouts", LAYOUT.values)
@release_option
@printed_as("table", "csv", "json")
def check(
    frameworks: tuple[str, ...],
    devices: tuple[str, ...],
    families: tuple[str, ...],
    precisions: tuple[str, ...],
    layouts: tuple[str, ...],
    release: str | None,
    form: str,
) -> None:
    """Compare every kernel with float64 on small problems, timing none.

    \b
        deepbench check --framework numpy --family gemm
        deepbench check --precision bfloat16 --format json
        deepbench check --release torch-2.13.0 --device cuda

    One line for each framework, device, family, operation, precision and layout, printed as soon
    as it is known. The problems are listed ones, cut down until every entry of the output can be
    compared; operations between processes run on two and on three of them. Error and tolerance are
    those of the entry that comes closest to its tolerance, or exceeds it most.

    \b
      ok       every entry of every problem is within its tolerance
      wrong    some entry is not, or the kernel fails: the exit status is 1
      skipped  missing here, with the reason; if all are, the exit status is 3
    """
    from deepbench_ops.distributed.check_rows import Selection
    from deepbench_ops.measure import threads

    wanted = Selection(
        once(known("framework", name, NAMES) for name in frameworks) or NAMES,
        once(known("device", name, DEVICES) for name in devices) or DEVICES,
        once(family_name(name) for name in families) or FAMILIES,
        once(known_precision(name).name for name in precisions),
        once(known("layout", name, LAYOUT.values) for name in layouts),
    )
    threads.fix()
    # numpy is only imported now, after the thread counts were settled.
    from deepbench_ops.backends import backend_check_table

    writers: dict[str, Callable[[Iterable[CheckResult]], Iterable[CheckResult]]] = {
        "table": partial(print_table, wanted),
        "csv": print_csv,
        "json": print_json,
    }
    verdicts = Counter(row.verdict for row in writers[form](checked(wanted, release)))
    counted = ", ".join(
        f"{verdicts[verdict]} {verdict}" for verdict in backend_check_table.VERDICTS
    )
    click.echo(counted, err=form != "table")
    if verdicts[backend_check_table.WRONG]:
        click.get_current_context().exit(ANY_WRONG)
    if not verdicts[backend_check_table.OK]:
        raise NoAnswer("no kernel was compared: the table has the reasons")


def checked(wanted: "Selection", release: str | None) -> Iterator["CheckResult"]:
    """Yield the rows of this environment, or those of a release in its own.

    Raises DeepbenchError for an unknown release, or one of a framework that is not asked for.
    """
    from deepbench_ops.distributed import check_rows

    if release is None:
        return check_rows.rows(wanted, show_step)
    from deepbench_ops.releases import worker_launch

    launch = worker_launch.of_name(release, lambda line: click.echo(line, err=True))
    framework = launch.environ["DEEPBENCH_FRAMEWORK"]
    if framework not in wanted.frameworks:
        raise DeepbenchError(f"--release {release} is no release of --framework: leave that out")
    return check_rows.rows_of(launch, replace(wanted, frameworks=(framework,)), show_step)


def known(what: str, name: str, names: Sequence[str]) -> str:
    """Return the name. Raises DeepbenchError where it is none of `names`."""
    if name not in names:
        raise unknown(what, name, names)
    return name


def once(names: Iterable[str]) -> tuple[str, ...]:
    """The names without repetitions, in the order in which they were given."""
    return tuple(dict.fromkeys(names))


def show_step(step: str) -> None:
    """Show the step of the check on a terminal."""
    progress_line.show(f"checking: {step} ...")


def print_json(rows: Iterable["CheckResult"]) -> list["CheckResult"]:
    """Print a list of objects, one for each row, once all are known; return the rows.

    Error and tolerance are null where nothing was compared.
    """
    found = list(rows)
    progress_line.clear()
    show("json", str, lambda: [asdict(row) for row in found])
    return found


def print_csv(rows: Iterable["CheckResult"]) -> Iterator["CheckResult"]:
    """Print a line for each row as it comes, and yield the row.

    Error and tolerance are empty where nothing was compared.
    """
    from deepbench_ops.backends.backend_check_table import CheckResult

    click.echo(guarded_csv([[field.name for field in fields(CheckResult)]]), nl=False)
    for row in rows:
        progress_line.clear()
        click.echo(guarded_csv([asdict(row).values()]), nl=False)
        yield row


def print_table(wanted: "Selection", rows: Iterable["CheckResult"]) -> Iterator["CheckResult"]:
    """Print a line for each row as it comes, errors to three digits, and yield the row.

    Columns are as wide as the names that they may hold.
    """
    operations = {name for family in wanted.families for name in TYPES[family].operations}
    layouts = {name for family in wanted.families for name in TYPES[family].layouts}
    usual = {name for family in wanted.families for name in TYPES[family].precisions}
    kinds = wanted.precisions or usual
    places = wanted.frameworks, wanted.devices, wanted.families
    held = (*places, {*operations, FIRST_CALL}, kinds, layouts)
    widths = [*(max(map(len, names)) for names in held), 8, 8, 7, 60]
    layout = terminal_tables.Layout(COLUMNS, widths, terminal_tables.terminal_width())
    click.echo(layout.head())
    for row in rows:
        progress_line.clear()
        figures = (shown(row.error), shown(row.tolerance))
        names = (row.framework, row.device, row.family, row.operation, row.precision, row.layout)
        click.echo(layout.line([*names, *figures, row.verdict, row.reason]))
        yield row
    progress_line.clear()
    if layout.left_out:
        click.echo(terminal_tables.left_out(layout))


def shown(number: float | None) -> str:
    """Return a figure with three digits, "" for None."""
    if number is None:
        return ""
    return f"{number:.2e}" if number else "0"
