"""Matrix of frameworks and families on a machine: times relative to the fastest, with noise."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

from deepbench_ops.analysis.frameworks_by_kernel import (
    NONE,
    Contest,
    Noise,
    doubt,
    noises,
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

    ratio: geometric mean of its seconds over those of the row's fastest, which has 1. deviation:
    standard deviation of the log of that ratio by noise. against: the framework that its kernels
    are compared with: the fastest, of the fastest the second, else the one that it shares most
    kernels with. kernels: places in the machine's contests that the ratio rests on. together: how
    many of them have rounds that measured both frameworks.
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
        """The framework with the lowest geometric mean."""
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


def _cells(
    points: Points,
    common: frozenset[int],
    found: Mapping[str, SharedMean],
    known: Noise,
    steps: JudgedSteps,
) -> dict[str, Cell]:
    ordered = sorted(found, key=lambda name: found[name].value)
    first, second = ordered[:2]

    def compared(name: str, other: str) -> tuple[tuple[int, ...], float, int]:
        """The kernels that both are compared on, the deviation, and how many of the kernels were
        measured together."""
        chained = found[name].through or found[other].through
        both = points[name].keys() & points[other].keys() if chained else common
        kernels = tuple(sorted(both))
        pairs = [(points[name][k], points[other][k]) for k in kernels]
        steps.judge(pairs)
        each = [doubt(*pair, known, steps) for pair in pairs]
        return kernels, fmean(value for value, _ in each), sum(rounds > 0 for _, rounds in each)

    cells = {}
    for name in ordered:
        target = second if name == first else first
        path = [name, found[name].through or name, found[target].through or target, target]
        path = list(dict.fromkeys(path))
        (kernels, _, together), *_ = legs = [compared(*pair) for pair in pairwise(path)]
        deviation = math.hypot(*(leg[1] for leg in legs))
        ratio = found[name].value / found[first].value
        cells[name] = Cell(ratio, deviation, path[1], kernels, together)
    return cells
