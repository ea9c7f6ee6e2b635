"""Test of the splits of a series against drift and against autocorrelated noise."""

import math
from functools import lru_cache

import numpy as np

from deepbench_ops.analysis.change_point_search import accepted, split_chance
from deepbench_ops.analysis.segment_levels import (
    autocorrelation,
    explained_squares,
    noise_of,
    off_levels,
    split_triples,
    uncorrelated_part,
)
from deepbench_ops.statistics.spread import fast_median

STEP, FURTHER = 1.0, 1.4
"""A step smaller than so many times the noise of a point is not distinguished from drift, alone or
next to clearer ones."""

SLIGHT = 2.45
"""A smaller step is compared with drift as if it were one of so many times the noise, which it
misses: drift as high as the noise looks like a step of once or twice the noise."""

NEAREST_POINTS = 10
"""Points on either side of a split that must differ, too, and by LOCAL times their noise."""
LOCAL = 2.3

LARGE = 4.0
"""A step of so many times the noise stands, however much the noise seems to remember."""

REACH = 400
"""Points on either side of a split that are looked at to judge it."""

TURNS = np.linspace(0.5, 1.35, 8)[:, None]
"""Periods of a slow wave in a whole series: faster waves look like several steps."""

DRIFT = 1.0
"""Drift is expected to be about so high: the variance that a line, and each half of a wave, adds
to a point, in noise squared."""

MEMORIES = (0.35, 0.5, 0.65)
"""Shares of a deviation that noise may hand on to the next point."""

STRAIGHT, WAVY, REMEMBERED, ANOTHER = -2.1, -0.9, 4.0, 7.0
"""Differences of logarithms of likelihood by which steps must exceed a straight line, a slow wave
and autocorrelated noise; and the further difference for each further step."""

CREEP = 0.08
"""Relative change from the first ten points to the newest ten that counts even without a clear
step."""


def unexplained_splits(logs: np.ndarray, ends: list[int]) -> list[int]:
    """Keep the splits that neither drift nor a memory of the noise explains, clearest first."""
    clarity = {b: split_chance(logs[a:c], b - a) for a, b, c in split_triples(ends)}
    large = LARGE * noise_of(off_levels(logs, ends))
    kept = [0, *(b for a, b, c in split_triples(ends) if _apart(logs, a, b, c) > large), len(logs)]
    waiting = sorted(clarity.keys() - set(kept), key=lambda place: clarity[place])
    while True:
        refused = []
        for place in waiting:
            tried = sorted([*kept, place])
            if _stands(logs, tried, place):
                kept = tried
            else:
                refused.append(place)
        if len(refused) == len(waiting):
            break
        waiting = refused
    return [0, len(logs)] if _drifts(logs, kept) else kept


def _apart(logs: np.ndarray, start: int, place: int, stop: int) -> float:
    """Return how far the levels of the nearest points on both sides of a split are apart."""
    before, after = logs[start:place][-NEAREST_POINTS:], logs[place:stop][:NEAREST_POINTS]
    return abs(fast_median(after) - fast_median(before))


def _stands(logs: np.ndarray, ends: list[int], place: int) -> bool:
    """Whether a split is a step of its own: large, sharp, and not due to autocorrelated noise."""
    i = ends.index(place)
    start, stop = max(ends[i - 1], place - REACH), min(ends[i + 1], place + REACH)
    low, high = max(0, start - REACH), min(len(logs), stop + REACH)
    around = [low, *(end for end in ends if low < end < high), high]
    off = off_levels(logs[low:high], [end - low for end in around])
    noise = noise_of(off)
    kept = logs[low:high] - off + np.clip(off, -3 * noise, 3 * noise)
    before, after = kept[start - low : place - low], kept[place - low : stop - low]
    least = STEP if len(ends) == 3 else FURTHER
    if abs(after.mean() - before.mean()) < least * noise:
        return False
    near = min(NEAREST_POINTS, len(before), len(after))
    if abs(after[:near].mean() - before[-near:].mean()) < LOCAL * noise * math.sqrt(2 / near):
        return False
    return split_chance(logs[start:stop], place - start, autocorrelation(off)) < accepted(len(logs))


def _drifts(logs: np.ndarray, ends: list[int]) -> bool:
    """Whether a line, a slow wave or a memory explains the series as well as its steps do.

    Each by its likelihood, averaged over its unknown height, period and place.
    """
    steps, count = len(ends) - 2, len(logs)
    if not steps:
        return False
    off = off_levels(logs, ends)
    reach = 3 * noise_of(off)
    kept = np.clip(off, -reach, reach)
    left = count - len(ends)
    noise = math.sqrt(float(kept @ kept) / left)
    if not noise:
        return False
    series = (logs - off + kept) / noise
    series -= series.mean()
    by_steps = (float(series @ series) - left) / 2 - (steps - 1) * ANOTHER
    by_steps += sum(_unplaced(logs, a, b, c) for a, b, c in split_triples(ends))
    if by_steps < _by_drift(series, _line(count)) + STRAIGHT:
        return True
    if by_steps < _by_drift(series, _slow_waves(count)) + WAVY:
        return True
    if autocorrelation(off):
        return False
    fresh = min(float((uncorrelated_part(series, memory) ** 2).sum()) for memory in MEMORIES)
    return count / 2 * math.log(fresh / left) < REMEMBERED


def _unplaced(logs: np.ndarray, start: int, place: int, stop: int) -> float:
    """Return the loss of a step's log likelihood by averaging over its unknown place and size."""
    gains = explained_squares(logs, start, place, stop, memory=0.0)
    if not len(gains):
        return 0.0
    likely = explained_squares(logs, start, place, stop, memory=0.0, least=SLIGHT)
    return _mean(likely / 2) - float(gains[place - start - 2]) / 2


def _by_drift(series: np.ndarray, shapes: np.ndarray) -> float:
    """Return the log likelihood ratio of a series, in units of its noise, with drift and without.

    shapes: of the drift, halves x shapes x points, with mean 0 and length 1.
    """
    expected = DRIFT * len(series)
    along = ((shapes @ series) ** 2).sum(axis=0)
    return _mean(along / 2 * expected / (1 + expected)) - len(shapes) / 2 * math.log1p(expected)


def _mean(logs: np.ndarray) -> float:
    """Return log(mean(exp(logs))), without overflow."""
    return float(np.logaddexp.reduce(logs)) - math.log(len(logs))


@lru_cache(maxsize=8)
def _line(count: int) -> np.ndarray:
    """Return a straight line in the form of `_by_drift`: 1 x 1 x points."""
    slope = np.arange(count) - (count - 1) / 2
    return np.asarray(slope / math.sqrt(float(slope @ slope)))[None, None]


@lru_cache(maxsize=8)
def _slow_waves(count: int) -> np.ndarray:
    """Return sines and cosines, the two halves of waves, of all periods TURNS: 2 x periods x
    points.

    Their angles count from the middle, so that the two are orthogonal.
    """
    angles = 2 * math.pi * TURNS * ((np.arange(count) + 0.5) / count - 0.5)
    waves = np.stack([np.sin(angles), np.cos(angles)])
    waves -= waves.mean(axis=2, keepdims=True)
    return np.asarray(waves / np.sqrt((waves**2).sum(axis=2, keepdims=True)))


def has_drifted(logs: np.ndarray, ends: list[int]) -> bool:
    """Whether the newest points are far from the first ones, with steps or without."""
    climb = abs(fast_median(logs[-NEAREST_POINTS:]) - fast_median(logs[:NEAREST_POINTS]))
    return climb > max(math.log1p(CREEP), 6 * noise_of(off_levels(logs, ends)))
