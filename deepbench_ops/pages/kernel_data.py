"""data/kernels/MACHINE/FRAMEWORK: every kernel with its newest time, for the page of a machine.

The files of lines hold all releases of a family with their notes; a page that shows all families
of a machine would read megabytes of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from deepbench_ops.analysis.lines import Line
from deepbench_ops.analysis.speed_index import Speed
from deepbench_ops.machine.profile import Profile
from deepbench_ops.pages import line_data, speed_data
from deepbench_ops.releases.release_table import Release

LATER = ("notes", "judged", "changes")
"""Fields of lines that are read with the line, when a row of the table is opened."""


def by_framework(
    lines: Iterable[Line],
    speeds: Iterable[Speed],
    profile: Profile | None,
    places: Mapping[Release, int],
) -> dict[str, dict[str, Any]]:
    """By framework the families, each with problems and lines as `line_data` has them, less what
    is not of the newest time; and the speed of all frameworks over their releases.

    lines, speeds: of one machine.
    """
    groups: dict[str, dict[str, list[Line]]] = defaultdict(lambda: defaultdict(list))
    for line in lines:
        point = line.points[-1]
        if point.compared:
            groups[point.release.framework][point.family].append(line)
    courses = [speed_data.fields(speed, places) for speed in speeds]
    return {
        framework: {
            "families": {
                family: _newest(members, profile, places) for family, members in families.items()
            },
            "speeds": courses,
        }
        for framework, families in groups.items()
    }


def _newest(
    lines: Sequence[Line], profile: Profile | None, places: Mapping[Release, int]
) -> dict[str, Any]:
    found = line_data.content([_last_point(line) for line in lines], profile, places)
    for fields in found["lines"]:
        for name in LATER:
            fields.pop(name, None)
    return {"problems": found["problems"], "lines": found["lines"]}


def _last_point(line: Line) -> Line:
    """The line of the newest time alone, with the noise of the whole one."""
    short = replace(line, points=line.points[-1:], shared=())
    vars(short)["noise"] = line.noise
    return short
