"""`deepbench compare`: machines, or releases of one, side by side."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deepbench_ops.commands import terminal_tables
from deepbench_ops.commands.options import machine_with_results, printed_as, results_folder, say
from deepbench_ops.commands.output_format import show
from deepbench_ops.errors import DeepbenchError, NoAnswer
from deepbench_ops.statistics.ratio_texts import ratio_texts

if TYPE_CHECKING:
    from deepbench_ops.analysis.implementation_changes import Switch
    from deepbench_ops.analysis.machine_comparison import (
        Contender,
        FamilyComparison,
        KernelComparison,
    )

GROUP_COLUMNS = (
    terminal_tables.Column("family"),
    terminal_tables.Column("precision", wrap=8),
    terminal_tables.Column("other / first", right=True),
    terminal_tables.Column("95 % interval", wrap=8),
    terminal_tables.Column("both have", right=True),
    terminal_tables.Column("first has", right=True, drop=2),
    terminal_tables.Column("other has", right=True, drop=2),
    terminal_tables.Column("% of peak, first", right=True, drop=1),
    terminal_tables.Column("% of peak, other", right=True, drop=1),
)
CHANGE_COLUMNS = (
    terminal_tables.Column("kernel", wrap=16),
    terminal_tables.Column("operation", wrap=12),
    terminal_tables.Column("precision", drop=1),
    terminal_tables.Column("first, s", right=True),
    terminal_tables.Column("other, s", right=True),
    terminal_tables.Column("other / first", right=True),
)


@click.command()
@click.argument("contenders", metavar="MACHINE[@RELEASE]...", nargs=-1, required=True)
@click.option(
    "--widest",
    metavar="N",
    type=click.IntRange(min=0),
    default=3,
    show_default=True,
    help="How many of the widest wins and losses to list.",
)
@click.option("--device", metavar="D", help="Which, of machines with results on several.")
@results_folder
@printed_as("table", "markdown", "csv", "json")
def compare(
    contenders: tuple[str, ...], widest: int, device: str | None, results: Path, form: str
) -> None:
    """Compare machines or releases over the kernels that both have.

    \b
        deepbench compare @numpy-1.26.4 @numpy-2.2.6
        deepbench compare nvidia-v100
        deepbench compare nvidia-v100@published-2017.11.16 nvidia-v100@published-2019.10.7
        deepbench compare epyc-9004-2core@torch epyc-9004-2core@numpy nvidia-v100

    Each MACHINE is compared with the first, under the usual conditions. Without MACHINE,
    "@RELEASE" is of this machine, and a single MACHINE is compared with this one. RELEASE is one
    like torch-2.13.0, or a framework, whose newest time of each kernel counts that was taken in the
    state, with the settings and on as many threads as the other side's; published figures are the
    framework "published".

    A ratio is the geometric mean of other / first in seconds: below 1 the other is faster. Its
    interval takes the kernels as a sample of all that a family could have. CSV has the families
    only.
    """
    from deepbench_ops.analysis import implementation_changes, machine_comparison
    from deepbench_ops.analysis.unsteady_list import remarks, without_answer

    _demand_machines(contenders, results)
    specs = contenders if len(contenders) > 1 else ("", *contenders)
    first, *others = sides = [_contender(text, results, device) for text in specs]
    if any(other.name == first.name for other in others):
        raise DeepbenchError(
            f"{first.name} would be compared with itself: name another machine or @RELEASE"
        )
    say(machine_comparison.elsewhere(sides, device), form)
    pairs = [
        (o, machine_comparison.groups(first, o), machine_comparison.changes(first, o))
        for o in others
    ]
    if not any(groups for _, groups, _ in pairs):
        names = " and ".join(other.name for other in others)
        reason = f"{first.name} has no kernel in common with {names}"
        raise without_answer(reason, [point for side in sides for point in side.left])
    for other in others:
        left = remarks([*first.left, *other.left])
        switched = implementation_changes.remarks(
            _switches(machine_comparison.changes(first, other))
        )
        say([*machine_comparison.remarks(first, other), *left, *switched], form)
    show(
        form,
        lambda: "\n\n".join(_text(first, *p, widest, form == "markdown") for p in pairs),
        lambda: [_json(first, *pair, widest) for pair in pairs],
        lambda: [_csv_line(first, other, g) for other, groups, _ in pairs for g in groups],
    )


def _demand_machines(contenders: Sequence[str], results: Path) -> None:
    """Raise DeepbenchError where a release is given without the @ that makes it one."""
    from deepbench_ops.analysis import point_reading
    from deepbench_ops.releases import table_location

    releases = {each.name for each in table_location.load(results)}
    for given in contenders:
        if given in releases.difference(point_reading.machines(results)):
            raise DeepbenchError(f"{given} is a release and not a machine: write @{given}")


def _switches(changes: Sequence["KernelComparison"]) -> "list[Switch]":
    from deepbench_ops.analysis import implementation_changes

    return implementation_changes.switches((change.first, change.other) for change in changes)


def _contender(spec: str, results: Path, device: str | None) -> "Contender":
    from deepbench_ops.analysis import machine_comparison, machine_points
    from deepbench_ops.machine import machine_profile
    from deepbench_ops.releases import table_location

    named, at, release = spec.partition("@")
    listed = table_location.load(results)
    names = [each.name for each in listed]
    machine = machine_with_results(results, named or None)
    releases = {each.hash: each for each in listed}
    loaded = machine_points.load(results, machine, releases, rounds=True)  # with notes
    found = [point._replace(rounds=()) for point in loaded]  # times of asv's results are compared
    if release in names and release not in {point.release.name for point in found}:
        raise NoAnswer(
            f"{machine} has no results of {release}: asv run {release} measures it on this machine"
        )
    return machine_comparison.contender(
        f"{machine}{at}{release}", found, machine_profile.read(results, machine), device
    )


def _text(
    first: "Contender",
    other: "Contender",
    groups: Sequence["FamilyComparison"],
    changes: Sequence["KernelComparison"],
    widest: int,
    markdown: bool,
) -> str:
    lines = [f"{other.name} against {first.name}", ""]
    if not groups:
        return lines[0] + ": no kernel that both have"
    lines.append(terminal_tables.table(GROUP_COLUMNS, [_group_row(g) for g in groups], markdown))
    for title, chosen in (
        ("other is faster", [c for c in changes[:widest] if c.ratio < 1]),
        ("first is faster", [c for c in changes[::-1][:widest] if c.ratio > 1]),
    ):
        if chosen:
            rows = [_change_row(change) for change in chosen]
            table = terminal_tables.table(CHANGE_COLUMNS, rows, markdown)
            lines += ["", f"Where {title} by most:", "", table]
    return "\n".join(lines)


def _group_row(group: "FamilyComparison") -> list[str]:
    ends = [end for end in (group.low, group.high) if end == end]
    ratio, *ends_as_text = ratio_texts(group.ratio, *ends)
    return [
        group.family,
        group.precision,
        ratio,
        " .. ".join(ends_as_text) or "one kernel",
        str(group.shared),
        str(group.first_has),
        str(group.other_has),
        *("" if x is None else f"{x:.1%}" for x in (group.first_of_peak, group.other_of_peak)),
    ]


def _change_row(change: "KernelComparison") -> list[str]:
    *names, first, other, ratio = _change(change)
    return [*names, f"{first:.4g}", f"{other:.4g}", *ratio_texts(ratio)]


def _change(change: "KernelComparison") -> tuple[str, str, str, float, float, float]:
    point = change.first
    ranks = f", {point.ranks} ranks" if point.ranks else ""
    return (
        f"{point.problem_id}{ranks}",
        f"{point.family} {point.operation}",
        point.precision,
        change.first.seconds,
        change.other.seconds,
        change.ratio,
    )


def _json(
    first: "Contender",
    other: "Contender",
    groups: Sequence["FamilyComparison"],
    changes: Sequence["KernelComparison"],
    widest: int,
) -> dict[str, Any]:
    listed = [*changes[:widest], *changes[max(widest, len(changes) - widest) :]]
    return {
        "first": first.name,
        "other": other.name,
        "groups": [asdict(group) for group in groups],
        "widest": [
            {column.title: cell for column, cell in zip(CHANGE_COLUMNS, _change(c), strict=True)}
            for c in listed
        ],
        "implementations": [switch.as_data() for switch in _switches(changes)],
    }


def _csv_line(
    first: "Contender", other: "Contender", group: "FamilyComparison"
) -> dict[str, object]:
    cells = zip((column.title for column in GROUP_COLUMNS), _group_row(group), strict=True)
    return {"first": first.name, "other": other.name, **dict(cells)}
