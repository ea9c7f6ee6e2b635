"""data/search: machines, releases and problems, to be found from every page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from deepbench_ops.analysis.lines import Line
from deepbench_ops.pages.addresses import timeline_fragment
from deepbench_ops.pages.machine_record import MachineRecord
from deepbench_ops.problems.problem_lists import TYPES
from deepbench_ops.releases.release_table import Release

FACTS = ("accelerator", "cpu")
"""Facts of a machine's entry that are searched too, such as its processor's name."""


def content(
    machines: Sequence[MachineRecord], lines: Iterable[Line], releases: Iterable[Release]
) -> dict[str, list[Any]]:
    """Rows by kind: machines as name and processor, releases as name and day, problems as family,
    id, title, application and the address of the timeline with the most points.
    """
    return {
        "machines": [
            [machine.name, " ".join(filter(None, (machine.entry.get(fact) for fact in FACTS)))]
            for machine in machines
        ],
        "releases": [[release.name, release.date.isoformat()] for release in releases],
        "problems": [
            [
                TYPES[family].heading or family.replace("_", " "),
                problem_id,
                line.points[-1].problem.title,
                line.points[-1].problem.application,
                timeline_fragment(line.points[-1]),
            ]
            for (family, problem_id), line in longest_lines(lines).items()
        ],
    }


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
