"""The course of a change: its kernels over all releases, relative to the release before it."""

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable
from statistics import fmean

from deepbench_ops.analysis.change_causes import Cause
from deepbench_ops.analysis.kernel_lines import Line
from deepbench_ops.analysis.points import Point
from deepbench_ops.releases.release_table import Release


class Courses:
    """Lookup of the lines of a change among those of all machines."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self._lines: dict[Hashable, list[Line]] = defaultdict(list)
        for line in lines:
            self._lines[_key(line.points[0])].append(line)

    def of(self, cause: Cause) -> list[tuple[Release, float]]:
        """Return each release's seconds over those before the change, oldest first.

        Of several kernels it is the geometric mean over those that the release has.
        """
        logs: dict[Release, list[float]] = defaultdict(list)
        for shift in cause.shifts:
            for point in self._line_of(shift.after).steady:
                logs[point.release].append(math.log(point.seconds / shift.before.seconds))
        ordered = sorted(logs, key=lambda release: release.date)
        return [(release, math.exp(fmean(logs[release]))) for release in ordered]

    def _line_of(self, point: Point) -> Line:
        """Return the line that has the point: a kernel has one for each of its settings and states
        of the machine."""
        return next(line for line in self._lines[_key(point)] if point in line.points)


def _key(point: Point) -> Hashable:
    return point.machine, point.release.framework, point.kernel, point.device
