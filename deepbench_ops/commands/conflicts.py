"""`deepbench conflicts`: times, runs of models and rounds for which different numbers were sent,
and the choice of one."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from deepbench_ops.commands import terminal_tables
from deepbench_ops.commands.options import printed_as, results_folder
from deepbench_ops.commands.output_format import counted, show
from deepbench_ops.errors import DeepbenchError, NoAnswer

if TYPE_CHECKING:
    from deepbench_ops.exchange.submissions.conflict_resolution import Conflict
    from deepbench_ops.exchange.submissions.entry_conflicts import EntryConflict
    from deepbench_ops.storage.conflict_files import PointVersion
    from deepbench_ops.storage.entry_conflict_files import EntryVersion

COLUMNS = (
    terminal_tables.Column("machine", wrap=10),
    terminal_tables.Column("release", wrap=12),
    terminal_tables.Column("kernel", wrap=16),
    terminal_tables.Column("parameters", wrap=16),
    terminal_tables.Column("version"),
    terminal_tables.Column("ms", right=True),
    terminal_tables.Column("samples", right=True, drop=1),
    terminal_tables.Column("processes", right=True, drop=2),
    terminal_tables.Column("signed by", wrap=12),
    terminal_tables.Column("shown"),
)

machine_option = click.option(
    "--machine", metavar="NAME", help="Only of this machine.  [default: all]"
)


@click.group(invoke_without_command=True)
@machine_option
@results_folder
@printed_as("table", "json")
@click.pass_context
def conflicts(context: click.Context, machine: str | None, results: Path, form: str) -> None:
    """List results for which different numbers were sent, and choose one.

    \b
        deepbench conflicts
        deepbench conflicts --machine our-card --format json
        deepbench conflicts resolve 3f2a9c01d7

    Two submissions that name the same machine, release and kernel, and hold other numbers, are in
    conflict, unless one has all numbers of the other. So are two runs of a model under the same
    conditions (deepbench latency, deepbench scaling), and two records of a round of a history.
    Results show a version that an allowed signer has signed, then the one with most samples, of as
    many the longest, and keep the others. Pages mark such times and runs.
    """
    if context.invoked_subcommand is not None:
        return
    found = _found(results, machine)

    def text() -> str:
        if not found:
            return "no conflicts"
        return terminal_tables.table(COLUMNS, [list(_cells(row)) for row in _rows(found)])

    show(form, text, lambda: list(_rows(found)))


@conflicts.command()
@click.argument("versions", metavar="[VERSION]...", nargs=-1)
@click.option("--shown", is_flag=True, help="Of all other conflicts choose the version shown now.")
@machine_option
@results_folder
def resolve(versions: tuple[str, ...], shown: bool, machine: str | None, results: Path) -> None:
    """Show each VERSION, and reject the other versions of its point, run or round.

    \b
        deepbench conflicts resolve 3f2a9c01d7
        deepbench conflicts resolve --shown --machine our-card

    VERSION is as "deepbench conflicts" lists it. A rejected version stays in the file of conflicts,
    so that it changes nothing when it is sent again.
    """
    from deepbench_ops.exchange.submissions import conflict_resolution
    from deepbench_ops.storage import locks

    if not versions and not shown:
        raise DeepbenchError("name versions, as deepbench conflicts lists them, or give --shown")
    with locks.results(results, doing="deepbench conflicts resolve"):
        found = _found(results, machine)
        if not found:
            raise NoAnswer(f"{results}: no conflicts")
        ids = {*versions, *([conflict_resolution.SHOWN] if shown else [])}
        done = conflict_resolution.resolve(found, ids)
    click.echo(f"{counted(done, 'conflict')} resolved, {len(found) - done} left")


def _found(results: Path, machine: str | None) -> "list[Conflict | EntryConflict]":
    from deepbench_ops.analysis import point_reading
    from deepbench_ops.exchange.submissions import conflict_resolution, entry_conflicts
    from deepbench_ops.problems.suggestions import unknown
    from deepbench_ops.releases import table_location

    names = point_reading.machines(results)
    if machine is not None and machine not in names:
        raise unknown("machine", machine, names)
    releases = table_location.load(results)
    found: list[Conflict | EntryConflict] = []
    for name in [machine] if machine is not None else names:
        found += conflict_resolution.of_machine(results / name, releases)
        found += entry_conflicts.of_machine(results / name)
    return found


def _rows(found: "Sequence[Conflict | EntryConflict]") -> Iterator[dict[str, object]]:
    for conflict in found:
        for one in conflict.versions:
            yield {
                "machine": conflict.machine.name,
                "release": conflict.release,
                "benchmark": conflict.key[0],
                "params": list(conflict.key[1]),
                "version": one.id,
                **_figures(one),
                "signer": one.signer,
                "shown": one.id == conflict.shown,
            }


def _figures(one: "PointVersion | EntryVersion") -> dict[str, object]:
    """Return seconds, samples and processes of a version."""
    from deepbench_ops.exchange.submissions import entry_merging
    from deepbench_ops.storage.entry_conflict_files import EntryVersion

    if isinstance(one, EntryVersion):
        figures = entry_merging.seconds(one), entry_merging.samples(one), one.processes
    else:
        figures = one.seconds, len(one.point.get("samples", ())), len(one.measurements)
    return dict(zip(("seconds", "samples", "processes"), figures, strict=True))


def _cells(row: dict[str, object]) -> Iterator[str]:
    for name, value in row.items():
        if value is None:
            yield ""
        elif name == "seconds":
            yield f"{1000 * float(str(value)):.5g}"
        elif isinstance(value, list):
            yield ", ".join(value)
        elif isinstance(value, bool):
            yield "yes" if value else ""
        else:
            yield str(value)
