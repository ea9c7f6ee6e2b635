"""Detection of changes of level in a series of seconds.

Properties of series of benchmarks that it allows for:

- **Ranks, not values, find a split.** The two sides are judged by the normal scores of their ranks
  (van der Waerden), whose law without a change depends on nothing but the number of points:
  spikes, two modes or long tails do not make alarms.
- **Noise is autocorrelated.** Where neighbouring points are alike, levels wander by themselves;
  there a split is judged, and placed, by the part of each point that the one before it does not
  explain.
- **Drift is not a step.** A change that a straight line or a slow wave explains as well is not
  reported, unless the level has climbed far in all (creep).
- **The newest points** are too few for ranks. They are compared with the history alone: beyond
  its noise, and beyond any excursion that it came back from.

`change_point_search` finds candidates, `drift_rejection` compares with drift, `segment_levels`
estimates noise. The constants were chosen by simulations: docs/explanation/detection.md has the
rates of changes found and of false alarms.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtr, stdtrit

from deepbench_ops.analysis.change_point_search import segments, split_chance
from deepbench_ops.analysis.drift_rejection import has_drifted, unexplained_splits
from deepbench_ops.analysis.segment_levels import (
    autocorrelation,
    clipped,
    least_squares_splits,
    mean,
    most_probable_splits,
    noise_of,
    off_levels,
    split_triples,
    without_spikes,
)
from deepbench_ops.statistics.confidence import CONFIDENCE
from deepbench_ops.statistics.ruined_rounds import FINEST
from deepbench_ops.statistics.spread import fast_median

CLIPPED = 1.1
"""Variance of a mean of clipped points, in that of a mean of all of them without outliers."""

KNOWN = 0.37
"""Part of the points that counts as freedom of the noise, which a median deviation clips: its
efficiency. Intervals hold the truth 99.5 times in 100 for 16 points, 99 times for 80."""

SMALLEST = 0.005
"""A change of less than half a percent is not called one, however certain."""

FARTHEST = 700.0
"""The logarithm of the largest finite ratio; its inverse is the smallest above 0."""

NEWEST = {1: 4.2, 2: 4.0}
"""Multiples of the noise by which the newest point, and the last two, must leave the history."""

HISTORY = 12
"""Points without a change that are needed to judge the newest ones."""


@dataclass(frozen=True)
class Change:
    """A change of level: `index` is the first point after it, `ratio` after / before.

    low, high: interval of 99 % of the ratio. confidence: 1 - the probability that noise alone
    gives such a change somewhere in the series.
    """

    index: int
    ratio: float
    low: float
    high: float
    confidence: float


def detect_changes(
    seconds: Sequence[float], intervals: Sequence[tuple[float, float]] | None = None
) -> list[Change]:
    """Return the changes of level along a series, in order.

    Points that are not positive and finite are passed over. `intervals` are the (low, high) of
    99 % of each point's seconds: where they are wider than the points scatter, they are the
    noise. Up to eleven points have no change, since they may stand in any order by chance;
    `analysis.verdict` compares few releases, by their rounds. Raises ValueError where there
    is not one interval for each point.
    """
    values = np.asarray(seconds, dtype=float)
    if intervals is not None and len(intervals) != len(values):
        raise ValueError(f"{len(intervals)} intervals for {len(values)} points")
    usable = np.flatnonzero(np.isfinite(values) & (values > 0))
    logs = np.log(values[usable])
    if len(logs) < 2 or np.ptp(logs) == 0:
        return []
    floor = _floor(intervals, usable)
    calm = without_spikes(logs)
    ends = least_squares_splits(calm, segments(calm))
    creeps = has_drifted(calm, ends)
    if not creeps:
        ends = least_squares_splits(calm, unexplained_splits(calm, ends))
    changes = _described(
        calm, most_probable_splits(calm, ends), usable, floor, remembers=not creeps
    )
    newest = _newest(logs, ends, floor)
    if newest is not None:
        count, change = newest
        changes.append(replace(change, index=int(usable[len(logs) - count])))
    return changes


def _newest(
    logs: np.ndarray, ends: list[int], floor: np.ndarray | None
) -> tuple[int, Change] | None:
    """Return the number of newest points beyond the history, one or two, and the change."""
    if len(logs) - ends[-2] < HISTORY + max(NEWEST):
        return None
    off = off_levels(logs, ends)
    for count, wanted in NEWEST.items():
        history = logs[ends[-2] : -count]
        usual = fast_median(history)
        tail = logs[-count:] - usual
        shift = mean(tail)
        noise = max(noise_of(history - usual), _mean_floor(floor), FINEST)
        error = noise * math.sqrt(1 / count + 1 / len(history))
        one_way = bool(np.all(tail * shift > 0))
        past = np.convolve(off[:-count], np.full(count, 1 / count), "valid")
        if (
            one_way
            and abs(shift) > wanted * error
            and abs(math.expm1(shift)) >= SMALLEST
            and np.abs(past).max() < abs(shift) / 2
        ):
            freedom = len(history) - 1
            chance = 2 * float(stdtr(freedom, -abs(shift) / error))
            return count, _ratio(shift, error, freedom, chance)
    return None


def _floor(
    intervals: Sequence[tuple[float, float]] | None, usable: np.ndarray
) -> np.ndarray | None:
    """Return the standard error of each usable point by its interval, NaN where it has none."""
    if intervals is None:
        return None
    given = np.asarray(intervals, dtype=float).reshape(-1, 2)[usable]
    sound = np.isfinite(given).all(axis=1) & (given > 0).all(axis=1)
    errors = np.full(len(given), math.nan)
    errors[sound] = np.abs(np.log(given[sound, 1] / given[sound, 0])) / (2 * 2.576)
    return errors


def _mean_floor(floor: np.ndarray | None) -> float:
    """Return the usual error of a point, 0 where no point has an interval."""
    if floor is None or np.isnan(floor).all():
        return 0.0
    return float(np.nanmedian(floor))


def _described(
    logs: np.ndarray,
    ends: list[int],
    usable: np.ndarray,
    floor: np.ndarray | None,
    remembers: bool,
) -> list[Change]:
    """Return the changes between segments; segments without a change between them are joined.

    A change whose interval holds 1, or that is too small to matter, is none; the least goes first.
    """
    while True:
        changes = [
            replace(_change(logs[a:c], b - a, len(logs), floor, remembers), index=int(usable[b]))
            for a, b, c in split_triples(ends)
        ]
        open_ones = [
            i
            for i, change in enumerate(changes)
            if change.low <= 1 <= change.high or abs(change.ratio - 1) < SMALLEST
        ]
        if not open_ones:
            return changes
        least = min(open_ones, key=lambda i: abs(math.log(changes[i].ratio)))
        del ends[least + 1]


def _change(
    logs: np.ndarray, left: int, places: int, floor: np.ndarray | None, remembers: bool
) -> Change:
    """Return the change between two neighbouring segments; its index is not known here."""
    count = len(logs)
    off = off_levels(logs, [0, left, count])
    reach = 2 * noise_of(off)
    kept = logs - off + clipped(off, -reach, reach)
    shift = mean(kept[left:]) - mean(kept[:left])
    memory = autocorrelation(off) if remembers else 0.0
    inflation = math.sqrt((1 + memory) / (1 - memory))
    noise = max(noise_of(off), _mean_floor(floor))
    error = noise * inflation * math.sqrt(CLIPPED * (1 / left + 1 / (count - left)))
    chance = places * split_chance(logs, left, memory)
    return _ratio(shift, error, KNOWN * (count - 2), chance)


def _ratio(shift: float, error: float, freedom: float, chance: float) -> Change:
    reach = float(stdtrit(freedom, (1 + CONFIDENCE) / 2)) * error
    logs = np.clip([shift, shift - reach, shift + reach], -FARTHEST, FARTHEST)
    ratio, low, high = np.exp(logs).tolist()
    return Change(0, ratio, low, high, 1 - min(1.0, chance))
