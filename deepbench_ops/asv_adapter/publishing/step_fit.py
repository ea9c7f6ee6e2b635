"""asv's fit of steps to a line, equal to the last bit, without repeated work.

asv tries some ten penalties. For each it cuts the line, tries to merge and to move the cuts, and
searches the correlation of the remaining noise. Most penalties cut alike, most of all in short
lines: here the work that depends on the cuts alone is done once for each way of cutting.
tests/asv_adapter/test_asv_graphs.py compares the fit with asv's on drawn series.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from asv import step_detect
from asv.step_detect import get_mu_dist, golden_search, merge_pieces, solve_potts

from deepbench_ops.asv_adapter.patch_installation import PUBLISH, Patch, instead

LONGEST = 20
"""The longest segment that asv's solver looks at, before it merges some."""

Segments = tuple[list[int], list[float], list[float]]
"""End, level and deviation of each step."""


def segments(y: Sequence[float], w: Sequence[float]) -> tuple[Any, ...]:
    """Stand in for step_detect.solve_potts_autogamma: the best segments and their penalty."""
    n = len(y)
    if n == 0:
        return [], [], [], None
    cuts = _Cuts(y, w)
    scale = cuts.dist(0, n - 1) or 1.0
    each = 4 * math.log(n) / n
    cost_of: dict[tuple[int, ...], float] = {}
    best: tuple[Any, ...] = ([n], [cuts.medians.mu(0, n - 1)], [cuts.dist(0, n - 1)], None)
    least = math.inf

    def cost(exponent: float) -> float:
        nonlocal best, least
        penalty = scale * math.exp(exponent)
        right, levels, deviations = cuts.at(penalty)
        key = tuple(right)
        if key not in cost_of:
            noise = _floor(levels) + _left_over(y, w, right, levels)
            cost_of[key] = each * len(right) + math.log(noise)
        if cost_of[key] < least:
            least, best = cost_of[key], (right, levels, deviations, penalty)
        return cost_of[key]

    smallest = math.log(0.1 / n)
    golden_search(cost, smallest, 0.0, xatol=abs(smallest) * 0.1, ftol=0, expand_bounds=True)
    return best


class _Cuts:
    """The ways of cutting a line that penalties lead to."""

    def __init__(self, y: Sequence[float], w: Sequence[float]) -> None:
        self.y, self.w = y, w
        self.medians = get_mu_dist(y, w)
        self.dist = self.medians.dist
        self.joints: dict[tuple[int, ...], list[tuple[float, float]]] = {}
        self.moved: dict[tuple[int, ...], Segments] = {}

    def at(self, penalty: float) -> Segments:
        """Stand in for step_detect.solve_potts_approx."""
        found: Segments = solve_potts(
            self.y, self.w, penalty, min_size=1, max_size=LONGEST, mu_dist=self.medians
        )
        key = tuple(found[0])
        if len(key) == 1:
            return found
        if key not in self.joints:
            self.joints[key] = self._joints(key)
        if any(joined - (apart + penalty) <= 0 for joined, apart in self.joints[key]):
            return self._merged(penalty, found)
        if key not in self.moved:
            self.moved[key] = self._merged(-math.inf, found)
        return self.moved[key]

    def _joints(self, right: Sequence[int]) -> list[tuple[float, float]]:
        """Return the deviation of each two neighbours: as one segment, and as two."""
        dist = self.dist
        return [
            (dist(left, end - 1), dist(left, middle - 1) + dist(middle, end - 1))
            for left, (middle, end) in zip([0, *right], pairwise(right), strict=False)
        ]

    def _merged(self, penalty: float, found: Segments) -> Segments:
        merged: Segments = merge_pieces(penalty, *found, self.medians, max_size=LONGEST)
        return merged


def _left_over(
    y: Sequence[float], w: Sequence[float], right: Sequence[int], levels: Sequence[float]
) -> float:
    """Return the noise around the levels, less the part that the previous point predicts."""
    errors: list[float] = []
    for end, level in zip(right, levels, strict=True):
        errors += [value - level for value in y[len(errors) : end]]
    first = abs(errors[0]) * w[0]
    steps = list(zip(errors[1:], errors, w[1:], strict=False))

    def noise(correlation: float) -> float:
        total = first
        for error, before, weight in steps:
            total += abs(error - correlation * before) * weight
        return total

    return noise(golden_search(noise, -1, 1, xatol=0.05, expand_bounds=True))


def _floor(levels: Sequence[float]) -> float:
    """Return the least noise that counts."""
    if len(levels) > 2:
        return max(1e-300, 0.1 * min(abs(after - before) for before, after in pairwise(levels)))
    return max(1e-300, 0.001 * min(map(abs, levels)))


PATCHES = (
    Patch(
        step_detect,
        "solve_potts_autogamma",
        instead(segments),
        "asv fits the same way of cutting a line again for every penalty",
        needed=False,
        scope=PUBLISH,
    ),
)
