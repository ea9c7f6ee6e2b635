"""Matrix of frameworks and families on a machine: times relative to the fastest, with noise."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from statistics import fmean
from typing import NamedTuple

from deepbench_ops.analysis.frameworks_by_kernel import (
    NONE,
    Contest,
    Noise,
    noises,
    ratio,
    stands_out,
)
from deepbench_ops.analysis.points import Point
from deepbench_ops.analysis.ranking_times import ranked_times, seconds
from deepbench_ops.analysis.shared_kernels import SharedMean, levels
from deepbench_ops.analysis.shared_rounds import JudgedSteps, Shared

Points = Mapping[str, Mapping[int, Point]]


@dataclass(frozen=True)
class Cell:
    """One framework at one family and precision.

    ratio: geometric mean of the ratios of its times to those of the row's fastest, which has 1;
    from rounds that measured both where there are such. deviation: standard deviation of the log of
    that ratio by noise. against: the framework that its kernels are compared with: the fastest, of
    the fastest the second, else the one that it shares most kernels with. kernels: places in
    the machine's contests that the ratio rests on. together: how many of them have rounds that
    measured both frameworks.
    """

    ratio: float
    deviation: float
    against: str
    kernels: tuple[int, ...]
    together: int

    @property
    def clear(self) -> bool:
        """Whether the framework is slower than the fastest beyond the noise."""
        return stands_out(self.ratio, self.deviation)


@dataclass(frozen=True)
class Row:
    """The frameworks at one family and precision on one device, fastest first.

    device: "" where it is the usual one.
    """

    family: str
    precision: str
    device: str
    cells: Mapping[str, Cell]

    @property
    def fastest(self) -> str:
        """The framework to which the smallest ratio of another one is the largest."""
        return next(iter(self.cells))

    @property
    def clear(self) -> bool:
        """Whether the fastest is ahead of all others beyond the noise."""
        return all(cell.clear for name, cell in self.cells.items() if name != self.fastest)


def matrix(contests: Sequence[Contest], shared: Shared = NONE) -> list[Row]:
    """Return a row for each family, precision and device at which two frameworks or more can be
    compared.

    contests: those of one machine. shared: its rounds that have several frameworks. Processes of a
    framework measure many kernels, so the noise of a mean over kernels is taken to be as large as
    that of one kernel.
    """
    known = noises([point for contest in contests for point in contest.points])
    steps = JudgedSteps(shared)
    rows = []
    for key, points in ranked_times(contests).items():
        common, found = levels(seconds(points))
        if len(found) > 1:
            rows.append(Row(*key, _cells(points, common, found, known, steps)))
    return rows


class _Leg(NamedTuple):
    """Two frameworks on the kernels that they are compared on.

    kernels: their places. log: mean of the logarithms of the ratios, of the first's time to the
    second's. deviation: that of such a logarithm, as a mean. together: number of the kernels whose
    ratio is from rounds that measured both.
    """

    kernels: tuple[int, ...]
    log: float
    deviation: float
    together: int


def _cells(
    points: Points,
    common: frozenset[int],
    found: Mapping[str, SharedMean],
    known: Noise,
    steps: JudgedSteps,
) -> dict[str, Cell]:
    def leg(name: str, other: str) -> _Leg:
        chained = found[name].through or found[other].through
        both = points[name].keys() & points[other].keys() if chained else common
        kernels = tuple(sorted(both))
        pairs = [(points[other][k], points[name][k]) for k in kernels]
        steps.judge(pairs)
        each = [ratio(*pair, known, steps) for pair in pairs]
        return _Leg(
            kernels,
            fmean(one.log for one in each),
            fmean(one.deviation for one in each),
            sum(one.rounds > 0 for one in each),
        )

    def path(name: str, other: str) -> list[str]:
        """The frameworks that lead from one to the other."""
        through = [found[each].through or each for each in (name, other)]
        return list(dict.fromkeys([name, *through, other]))

    names = sorted(found, key=lambda name: found[name].value)
    logs: dict[tuple[str, str], float] = {}
    for two in combinations(names, 2):
        logs[two] = sum(leg(*pair).log for pair in pairwise(path(*two)))
        logs[two[::-1]] = -logs[two]

    def lead(name: str) -> float:
        return min(logs[other, name] for other in names if other != name)

    first = max(names, key=lead)
    others = sorted((name for name in names if name != first), key=lambda name: logs[name, first])
    cells = {}
    for name in [first, *others]:
        way = path(name, others[0] if name == first else first)
        nearest, *_ = legs = [leg(*pair) for pair in pairwise(way)]
        value = 1.0 if name == first else math.exp(logs[name, first])
        deviation = math.hypot(*(each.deviation for each in legs))
        cells[name] = Cell(value, deviation, way[1], nearest.kernels, nearest.together)
    return cells
