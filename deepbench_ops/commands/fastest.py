"""`deepbench fastest`: the fastest machine for each kernel, now and over time."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import click

from deepbench_ops.commands import terminal_tables
from deepbench_ops.commands.options import MEASURE, Day, printed_as, results_folder, say
from deepbench_ops.commands.output_format import show
from deepbench_ops.problems.precision import ALL_PRECISIONS, MIXED
from deepbench_ops.problems.problem_ids import problem_of
from deepbench_ops.run_conditions import DEVICE

if TYPE_CHECKING:
    from deepbench_ops.analysis.fastest_machine_by_kernel import SpeedRecord
    from deepbench_ops.analysis.point_filter import Only
    from deepbench_ops.analysis.points import Point

COLUMNS = (
    terminal_tables.Column("set", drop=2),
    terminal_tables.Column("kernel", wrap=20),
    terminal_tables.Column("total, ms", right=True),
    terminal_tables.Column("10^12 FLOP/s or GB/s", right=True),
    terminal_tables.Column("precision", drop=1),
    terminal_tables.Column("machine", wrap=12),
    terminal_tables.Column("release", wrap=12),
)
DAY = terminal_tables.Column("day")


@click.command()
@click.option(
    "--selection", metavar="NAME", default="headline", show_default=True, help="The problems."
)
@click.option("--family", metavar="F", help="Only this family.")
@click.option(
    "--precision",
    "precisions",
    type=click.Choice([*ALL_PRECISIONS, MIXED]),
    multiple=True,
    default=["float32"],
    show_default=True,
    help="May be repeated: the fastest at any of them.",
)
@click.option(
    "--as-of",
    metavar="YYYY-MM-DD",
    type=Day(),
    help="Only results until that day.",
)
@click.option("--history", is_flag=True, help="Every record a kernel has had, with its day.")
@printed_as("table", "markdown", "json")
@results_folder
def fastest(
    selection: str,
    family: str | None,
    precisions: tuple[str, ...],
    as_of: date | None,
    history: bool,
    form: str,
    results: Path,
) -> None:
    """Print the fastest machine for each kernel of a selection.

    \b
        deepbench fastest --as-of 2017-07-14
        deepbench fastest --as-of 2018-04-03 \\
            --precision float32 --precision float32_mixed --precision float16
        deepbench fastest --precision float16 --family gemm --history

    These are the tables of DeepBench's README, of any day: the total of a kernel's published passes
    (forward and both backward passes, where a machine has them) and the forward pass's FLOP/s; of
    an all-reduce its time and the bytes of all ranks' vectors over it. The last of these tables
    took the faster of several precisions: repeat --precision for that. Passes are added up within a
    release where one has all of them. Else the line names their releases, and its day is that of
    the newest. Of the times of a kernel on a machine those in one state of the machine count; lines
    above the table say how many are left out.
    """
    from deepbench_ops.analysis import fastest_machine_by_kernel as records
    from deepbench_ops.analysis import machine_points, point_reading
    from deepbench_ops.analysis.point_filter import EVERYTHING
    from deepbench_ops.analysis.points import devices_of_machines
    from deepbench_ops.analysis.settings_and_state_agreement import notes
    from deepbench_ops.analysis.unsteady_list import remarks, without_answer
    from deepbench_ops.problems.selections import select
    from deepbench_ops.releases import table_location

    members = select(selection, family)
    releases = {release.hash: release for release in table_location.load(results)}
    ids = {(member.set, member.problem.id) for member in members}
    only = {
        "family": {member.problem.family for member in members},
        "problem": {id for _, id in ids},
        "precision": precisions,
    }

    def load(only: "Only") -> "Iterator[Point]":
        for machine in point_reading.machines(results):
            yield from machine_points.load(results, machine, releases, only=only)

    found = list(load(only))
    if history:
        lines = [r for line in records.history(found, members, precisions, as_of) for r in line]
    else:
        lines = records.records(found, members, precisions, as_of)
    asked = [
        p
        for p in found
        if (p.set, p.problem_id) in ids
        and p.precision in precisions
        and (as_of is None or p.release.date <= as_of)
    ]
    if not lines:
        raise without_answer(
            _nothing(results, any(load(EVERYTHING)), selection, family, precisions, as_of), asked
        )
    apart = [p for p in asked if p.usual_run and p.settings]
    _, others = records.counting(found, members, precisions, as_of)
    left = set(map(id, others))
    used = [p for p in asked if p.usual and id(p) not in left]
    say([*notes([], others), *notes(used, apart), *remarks(asked)], form)
    show(
        form,
        lambda: _table(lines, devices_of_machines(found), history, form == "markdown"),
        lambda: [asdict(r) | {"day": r.day.isoformat()} for r in lines],
    )


def _nothing(
    results: Path,
    times: bool,
    selection: str,
    family: str | None,
    precisions: tuple[str, ...],
    day: date | None,
) -> str:
    """Return why there is no record to print."""
    if not times:
        return f"{results} holds no results of any machine: measure {MEASURE}"
    by = f" that was out on {day}" if day else ""
    kernels = f"{selection}{f', {family}' if family else ''}, {' or '.join(precisions)}"
    return f"no machine in {results} has a result{by} for these kernels: {kernels}"


def _table(
    records: "Sequence[SpeedRecord]",
    devices: Mapping[str, Collection[str]],
    history: bool,
    markdown: bool,
) -> str:
    """Return records as a table, with their days where it is a history.

    devices: those of each machine; where it has several, an unusual one stands behind its name.
    """
    if not history:
        rows = [_row(each, devices) for each in records]
        return terminal_tables.table(COLUMNS, rows, markdown)
    rows = [[*_row(each, devices), each.day.isoformat()] for each in records]
    return terminal_tables.table((*COLUMNS, DAY), rows, markdown)


def _row(record: "SpeedRecord", devices: Mapping[str, Collection[str]]) -> list[str]:
    several = len(devices[record.machine]) > 1 and record.device != DEVICE.usual
    machine = f"{record.machine}, {record.device}" if several else record.machine
    # A rate is bytes per second where a family counts no FLOPs.
    scale = 1e12 if problem_of(record.family, record.problem_id).flops else 1e9
    ranks = f", {record.ranks} ranks" if record.ranks else ""
    return [
        record.set,
        f"{record.family} {record.problem_id}{ranks}",
        f"{record.seconds * 1e3:.4g}",
        f"{record.rate / scale:.3g}",
        record.precision,
        machine,
        record.release,
    ]
