"""data/search: machines, releases and problems for the search box of every page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from deepbench_ops.analysis.kernel_lines import Line
from deepbench_ops.pages.addresses import timeline_fragment
from deepbench_ops.pages.machine_record import MachineRecord
from deepbench_ops.problems.problem_lists import TYPES, heading, load
from deepbench_ops.releases.release_table import Release

FACTS = ("accelerator", "cpu")
"""Facts of a machine's entry that are searched too, such as its processor's name."""


def content(
    machines: Sequence[MachineRecord],
    longest: Mapping[tuple[str, str], Line],
    releases: Iterable[Release],
) -> dict[str, list[Any]]:
    """Rows of machines, releases and problems.

    - machine: name and processor;
    - release, newest first: name and day;
    - problem, measured ones first: family, its heading, id, title, application and the address of
      the timeline with the most points (null if it was not measured).

    longest: the result of `longest_lines`.
    """
    problems = {
        (family, problem_id): line.points[-1].problem
        for (family, problem_id), line in longest.items()
    }
    for family in TYPES:
        for problem in load(family):
            problems.setdefault((family, problem.id), problem)
    return {
        "machines": [
            [machine.name, " ".join(fact for fact in _facts(machine) if fact != "none")]
            for machine in machines
        ],
        "releases": [
            [release.name, release.date.isoformat()]
            for release in sorted(releases, key=lambda release: release.date, reverse=True)
        ],
        "problems": [
            [
                family,
                heading(family),
                problem_id,
                problem.title,
                problem.application,
                _timeline(longest.get((family, problem_id))),
            ]
            for (family, problem_id), problem in problems.items()
        ],
    }


def _facts(machine: MachineRecord) -> list[str]:
    return [machine.entry.get(fact) or "none" for fact in FACTS]


def _timeline(line: Line | None) -> dict[str, Any] | None:
    return timeline_fragment(line.points[-1]) if line else None


def longest_lines(lines: Iterable[Line]) -> Mapping[tuple[str, str], Line]:
    """Return the line of each problem with the most points; measured ones come first."""
    found: dict[tuple[str, str], Line] = {}
    for line in lines:
        point = line.points[-1]
        if not point.compared:
            continue
        key = point.family, point.problem_id
        known = found.get(key)
        if known is None or _worth(line) > _worth(known):
            found[key] = line
    return found


def _worth(line: Line) -> tuple[bool, int, bool]:
    point = line.points[-1]
    return line.measured, len(line.points), point.usual and point.operation == "forward"
