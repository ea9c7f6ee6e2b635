"""`deepbench frameworks`: the frameworks of one machine on the same kernels."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from deepbench_ops.commands import terminal_tables
from deepbench_ops.commands.options import (
    machine_with_results,
    precision_option,
    printed_as,
    problem_options,
    results_folder,
    say,
)
from deepbench_ops.commands.output_format import counted, show

if TYPE_CHECKING:
    from deepbench_ops.analysis.frameworks_by_kernel import Contest
    from deepbench_ops.analysis.points import Point


@click.command()
@click.option("--machine", metavar="NAME", help="The machine.  [default: this one]")
@problem_options
@precision_option
@printed_as("table", "markdown", "json")
@results_folder
def frameworks(
    machine: str | None,
    selection: str,
    family: str | None,
    precision: str,
    form: str,
    results: Path,
) -> None:
    """Compare the frameworks on a machine, kernel by kernel.

    \b
        deepbench frameworks
        deepbench frameworks --machine epyc-9004-2core --family conv --selection training

    The newest release of each framework counts. A star marks the fastest if it is ahead of all
    others by more than the noise; each time comes with its interval. Where two were measured in
    the same rounds (deepbench history --frameworks), their ratio is that of these rounds.
    """
    from deepbench_ops.analysis import frameworks_by_kernel as analysis
    from deepbench_ops.analysis import machine_points, shared_rounds
    from deepbench_ops.analysis.settings_and_state_agreement import notes
    from deepbench_ops.analysis.unsteady_list import remarks, without_answer
    from deepbench_ops.exchange.submissions import entry_conflicts
    from deepbench_ops.problems.selections import select
    from deepbench_ops.releases import table_location

    releases = {release.hash: release for release in table_location.load(results)}
    name = machine_with_results(results, machine)
    members = {(m.set, m.problem.family, m.problem.id) for m in select(selection, family)}
    only = {"family": {of for _, of, _ in members}}  # at all precisions, which share its noise
    every = machine_points.load(results, name, releases, rounds=True, only=only)
    asked = [
        point
        for point in every
        if (point.set, point.family, point.problem_id) in members and point.precision == precision
    ]
    rounds = shared_rounds.load_of_several_frameworks(results, name)
    found = [
        contest
        for contest in analysis.contests(every, rounds)
        if any(
            (each, contest.kernel.family, contest.kernel.problem_id) in members
            for each in contest.sets
        )
        and contest.kernel.precision == precision
    ]
    if not found:
        reason = (
            f"{name} has no kernel of {selection}{f', {family}' if family else ''}, {precision}"
            " with two frameworks: measure it with asv run --bench"
            f' "$(deepbench select {selection} --precision {precision})"'
        )
        raise without_answer(reason, asked)
    shown = [point for contest in found for point in contest.points]
    differ = entry_conflicts.remarks([results / name])
    say([*notes(shown), *remarks(asked), *differ], form)
    show(
        form,
        lambda: as_table(found, form == "markdown"),
        lambda: [as_dict(contest) for contest in found],
    )


def as_dict(contest: "Contest") -> dict[str, object]:
    """The contest for another program, times in seconds."""
    kernel = contest.kernel
    return {
        "family": kernel.family,
        "set": kernel.set,
        "sets": list(contest.sets),
        "operation": kernel.operation,
        "problem": kernel.problem_id,
        "precision": kernel.precision,
        "ranks": kernel.ranks,
        "device": kernel.device,
        "fastest": contest.fastest or None,
        "ahead": contest.ahead,
        "shared_rounds": contest.shared,
        "seconds": {point.release.name: _timed(point) for point in contest.points},
    }


def _timed(point: "Point") -> dict[str, float | None]:
    low, high = point.interval or (None, None)
    return {"seconds": point.seconds, "low": low, "high": high}


def _kernel(contest: "Contest") -> tuple[str, str]:
    kernel = contest.kernel
    name = ", ".join(filter(None, [kernel.name, kernel.other_device]))
    return f"{kernel.family} {kernel.operation}", name


def _cells(contest: "Contest") -> dict[str, str]:
    """Return the time of each framework that has one, by its name."""
    times = {point.release.framework: point for point in contest.points}
    return {name: shown(times[name], name == contest.fastest) for name in sorted(times)}


KERNEL = (terminal_tables.Column("operation", wrap=12), terminal_tables.Column("problem", wrap=16))


def as_table(found: Sequence["Contest"], markdown: bool) -> str:
    """A line for each kernel and a column for each framework, or where the terminal is too narrow
    for that, a line for each kernel and framework."""
    names = sorted({point.release.framework for contest in found for point in contest.points})
    columns = [*KERNEL, *(terminal_tables.Column(f"{name}, ms") for name in names)]
    lines = []
    for contest in found:
        cells = _cells(contest)
        lines.append([*_kernel(contest), *(cells.get(name, "") for name in names)])
    if not markdown and not terminal_tables.fits(columns, lines):
        columns = [*KERNEL, terminal_tables.Column("framework"), terminal_tables.Column("ms")]
        lines = [
            [*(("", "") if place else _kernel(contest)), *cell]
            for contest in found
            for place, cell in enumerate(_cells(contest).items())
        ]
    table = terminal_tables.table(columns, lines, markdown)
    clear = sum(bool(contest.fastest) for contest in found)
    together = sum(bool(contest.shared) for contest in found)
    rounds = f"; on {together} both were measured in the same rounds" if together else ""
    said = [f"{clear} of {len(found)} kernels have a fastest beyond the noise{rounds}"]
    if odd := sum(map(_is_fastest_by_rounds_alone, found)):
        said.append(
            f"{counted(odd, 'star')} next to a time that is not the smallest: the rounds in which"
            " both frameworks were measured together decide, and not the times in the table"
        )
    return "\n\n".join([table, "\n".join(said if markdown else map(terminal_tables.prose, said))])


def _is_fastest_by_rounds_alone(contest: "Contest") -> bool:
    """Return whether the time of the fastest framework is not the smallest one."""
    smallest = min(contest.points, key=lambda point: point.seconds)
    return bool(contest.fastest) and smallest.release.framework != contest.fastest


def shown(point: "Point", star: bool) -> str:
    """Milliseconds with their interval, and a star for the fastest."""
    text = f"{point.seconds * 1e3:.4g}"
    if point.interval:
        text += f" ({point.interval[0] * 1e3:.4g} to {point.interval[1] * 1e3:.4g})"
    else:
        text += f" ({point.without_interval})"
    return f"{text}{' *' if star else ''}"
