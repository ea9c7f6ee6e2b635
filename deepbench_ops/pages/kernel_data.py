"""data/kernels/MACHINE/FRAMEWORK: every kernel with its newest time, for the page of a machine.

The files of lines hold all releases of a family with their notes. A page that shows all families
of a machine would have to read megabytes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from deepbench_ops.analysis.kernel_lines import Line
from deepbench_ops.analysis.speed_index import Speed
from deepbench_ops.machine.machine_profile import Profile
from deepbench_ops.pages import line_data, speed_data
from deepbench_ops.releases.release_table import Release

DETAIL_FIELDS = ("notes", "threads", "judged", "changes")
"""Fields that are left out here: the page reads them when the reader opens a row."""


def by_framework(
    lines: Iterable[Line],
    speeds: Iterable[Speed],
    profile: Profile | None,
    places: Mapping[Release, int],
) -> dict[str, dict[str, Any]]:
    """By framework its families, and the speed of all frameworks over their releases.

    A family has problems and lines as in `line_data`, but only the newest time of each line, behind
    the newest steady one where it is unsteady.

    lines, speeds: those of one machine.
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
    found = line_data.content([_last_points(line) for line in lines], profile, places)
    for fields in found["lines"]:
        for name in DETAIL_FIELDS:
            fields.pop(name, None)
    return {"problems": found["problems"], "lines": found["lines"]}


def _last_points(line: Line) -> Line:
    """The line of the newest time, behind the newest steady one where it is unsteady, with the
    noise of the whole one."""
    last = line.points[-1:]
    short = replace(line, points=(line.steady[-1:] if last[0].unsteady else ()) + last, shared=())
    vars(short)["noise"] = line.noise
    return short
