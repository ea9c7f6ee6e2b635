"""The points of frameworks on one kernel, the fastest first.

Rounds that measured two frameworks say more about their ratio than times taken apart do. The point
that shares rounds with most others is the hub of the kernel: the seconds of these follow from its
own and from their ratios to it. Points without rounds in common with it have their own seconds.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import NamedTuple

from deepbench_ops.analysis.points import Point
from deepbench_ops.analysis.shared_rounds import JudgedSteps


class Place(NamedTuple):
    """A point with the seconds that order it.

    through: the hub, where the seconds follow from its own, else the point itself.
    """

    point: Point
    seconds: float
    through: Point


def in_order(kernels: Iterable[Iterable[Point]], steps: JudgedSteps) -> list[list[Place]]:
    """Return the points of each kernel, the fastest first."""
    by_seconds = [
        sorted(points, key=lambda point: (point.seconds, point.release.name)) for points in kernels
    ]
    steps.judge(pair for points in by_seconds for pair in combinations(points, 2))
    hubs = [_hub(points, steps) for points in by_seconds]
    steps.judge(
        (hub, point)
        for hub, points in zip(hubs, by_seconds, strict=True)
        for point in points
        if point is not hub
    )
    return [
        sorted((_place(point, hub, steps) for point in points), key=lambda place: place.seconds)
        for hub, points in zip(hubs, by_seconds, strict=True)
    ]


def _hub(points: Sequence[Point], steps: JudgedSteps) -> Point:
    """Return the point that shares rounds with most others, the first of several."""
    linked = [two for two in combinations(points, 2) if steps.between(*two) is not None]
    links = Counter(id(point) for two in linked for point in two)
    return max(points, key=lambda point: links[id(point)])


def _place(point: Point, hub: Point, steps: JudgedSteps) -> Place:
    step = None if point is hub else steps.between(hub, point)
    if step is None:
        return Place(point, point.seconds, point)
    return Place(point, hub.seconds * step.verdict.ratio, hub)
