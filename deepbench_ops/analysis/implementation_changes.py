"""Kernels that another library code computes than before, whether or not their time changed."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from deepbench_ops.analysis.kernel_lines import Line
from deepbench_ops.analysis.points import Point
from deepbench_ops.releases.release_table import Release

MOST = 8
"""Switches that are printed; data have all."""


@dataclass(frozen=True)
class Switch:
    """Kernels that ran one implementation on a release and another one on a later release.

    was, now: the implementations, as records name them. points: the times of the later release.
    """

    machine: str
    before: Release
    after: Release
    was: str
    now: str
    points: tuple[Point, ...]

    @property
    def text(self) -> str:
        """A line for a reader."""
        families = Counter(point.family for point in self.points)
        kernels = " and ".join(f"{count} of {family}" for family, count in families.items())
        return (
            f"{self.machine}: with {self.after.name} {kernels} ran {self.now}"
            f" (before, {self.before.name}: {self.was})"
        )

    def as_data(self) -> dict[str, object]:
        """Return it by names."""
        return {
            "machine": self.machine,
            "before": self.before.name,
            "after": self.after.name,
            "was": self.was,
            "now": self.now,
            "kernels": [
                {
                    "family": point.family,
                    "set": point.set,
                    "operation": point.operation,
                    "problem": point.problem_id,
                    "precision": point.precision,
                }
                for point in self.points
            ],
        }


def switches(pairs: Iterable[tuple[Point, Point]]) -> list[Switch]:
    """Return the switches among pairs of an earlier and a later time of a kernel, most kernels
    first; pairs of different machines or frameworks, or without both names, make none."""
    found: dict[tuple[str, Release, Release, str, str], list[Point]] = defaultdict(list)
    for before, after in pairs:
        was, now = before.implementation, after.implementation
        same = (before.machine, before.release.framework) == (
            after.machine,
            after.release.framework,
        )
        if was and now and was != now and same:
            found[after.machine, before.release, after.release, was, now].append(after)
    several = [Switch(*key, points=tuple(points)) for key, points in found.items()]
    return sorted(several, key=lambda switch: -len(switch.points))


def of_lines(lines: Iterable[Line]) -> Iterator[tuple[Point, Point]]:
    """Yield the neighbouring releases of each line whose implementation is known."""
    for line in lines:
        yield from pairwise(point for point in line.points if point.implementation)


def remarks(found: list[Switch]) -> list[str]:
    """Return a line for each switch, for the first `MOST`."""
    lines = [switch.text for switch in found[:MOST]]
    if len(found) > MOST:
        lines.append(f"{len(found) - MOST} further switches of implementation: see --format json")
    return lines
