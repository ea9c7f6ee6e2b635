"""The levels between the splits of a series, and the noise about them. All in logarithms."""

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np

from deepbench_ops.statistics.spread import NORMAL, fast_median, finite_medians, mad_from_zero

SPIKE = 4.0
"""A point so many times the noise away from the median of those around it, and half as many from
the nearest, is a spike, if it stands alone."""

RARE = 0.08
"""Largest share of points that can be spikes: of more, they are part of the noise."""

REMEMBERED = 0.26
"""Correlation between neighbours from which noise is taken to remember."""

LEAST, MISSED = 2.1, 16.0
"""A step of less than LEAST times the noise is penalised by the square of the rest in a placement,
at most by MISSED: a long series shows a small step as well."""

SHORTENED = 0.15
"""The loss of such a correlation by removing levels at the places that suit it best."""


def without_spikes(logs: np.ndarray) -> np.ndarray:
    """Return the series with spikes flattened: single points far beyond those around, if rare."""
    noise = noise_of(np.diff(logs)) / math.sqrt(2)
    if noise == 0 or len(logs) < 7:
        return logs
    around = logs[neighbours(len(logs))]
    centre = finite_medians(around)[:, 0]
    beyond = np.maximum(logs - around.max(axis=1), around.min(axis=1) - logs)
    far = (np.abs(logs - centre) > SPIKE * noise) & (beyond > SPIKE / 2 * noise)
    alone = far.copy()
    alone[1:] &= ~far[:-1]
    alone[:-1] &= ~far[1:]
    return logs if alone.mean() > RARE else np.where(alone, centre, logs)


@lru_cache(maxsize=1024)
def neighbours(count: int) -> np.ndarray:
    """Return the places of the six points around each of so many, seven at least: points x 6."""
    own = np.arange(count)[:, None]
    near = np.clip(own - 3, 0, count - 7) + np.arange(7)
    return near[near != own].reshape(-1, 6)


def least_squares_splits(logs: np.ndarray, ends: list[int]) -> list[int]:
    """Move each split to where the two levels around it leave the least squares; where the noise is
    autocorrelated, those of the uncorrelated part of each point."""
    ends = list(ends)
    memory = autocorrelation(off_levels(logs, ends))
    for i in range(1, len(ends) - 1):
        gains = explained_squares(logs, *ends[i - 1 : i + 2], memory=memory)
        if len(gains):
            ends[i] = ends[i - 1] + 2 + int(np.argmax(gains))
    return ends


def most_probable_splits(logs: np.ndarray, ends: list[int]) -> list[int]:
    """Move each split to the place with the most probability within two points of it."""
    ends = list(ends)
    memory = autocorrelation(off_levels(logs, ends))
    for i in range(1, len(ends) - 1):
        gains = explained_squares(logs, *ends[i - 1 : i + 2], memory=memory, least=LEAST)
        if len(gains):
            likely = np.exp((gains - gains.max()) / 2)
            near = np.convolve(likely, np.ones(5), "full")[2:-2]
            ends[i] = ends[i - 1] + 2 + int(np.argmax(near + 0.01 * likely))
    return ends


def explained_squares(
    logs: np.ndarray, start: int, place: int, stop: int, *, memory: float, least: float = 0.0
) -> np.ndarray:
    """Return the part of the squares, in noise squared, that each split of start..stop explains.

    Sides have two points or more. Of each point counts the difference to `memory` times the one
    before it. Points beyond three
    times the noise from either level are clipped. A step of less than `least` times the noise is
    taken to be one of so much.
    """
    part = logs[start:stop]
    count = len(part)
    left = place - start
    levels = fast_median(part[:left]), fast_median(part[left:])
    off = off_levels(part, [0, left, count])
    noise = noise_of(off)
    fresh_noise = noise_of(off[1:] - memory * off[:-1])
    if count < 5 or fresh_noise == 0:
        return np.empty(0)
    part = clipped(part, min(levels) - 3 * noise, max(levels) + 3 * noise)
    level = uncorrelated_part(np.ones(count), memory)
    fresh = uncorrelated_part(part - mean(part), memory)
    fresh -= level * float(level @ fresh) / float(level @ level)
    lefts = np.arange(2, count - 1)
    later = count - 1 - lefts
    keeps = 1 - memory
    steps = fresh[lefts] + keeps * np.cumsum(fresh[::-1])[later - 1]
    along = keeps * (1 + keeps * later)
    power = 1 + keeps**2 * later - along**2 / float(level @ level)
    clarity = np.abs(steps) / np.sqrt(power) / fresh_noise
    missed = np.maximum(0.0, least * noise / fresh_noise * np.sqrt(power) - clarity) ** 2
    return np.asarray(clarity**2 - np.minimum(missed, MISSED))


def uncorrelated_part(values: np.ndarray, memory: float) -> np.ndarray:
    """Return the uncorrelated part of each value, all with the same scatter."""
    return np.concatenate(
        [values[:1] * math.sqrt(1 - memory**2), values[1:] - memory * values[:-1]]
    )


def autocorrelation(off: np.ndarray) -> float:
    """Return the correlation of neighbouring deviations, 0 for a small one."""
    noise = noise_of(off)
    if noise == 0:
        return 0.0
    off = clipped(off, -3 * noise, 3 * noise)
    off = off - mean(off)
    lags = np.arange(1, max(1, min(len(off) // 5, 16)) + 1)
    alike = np.array([float(off[lag:] @ off[:-lag]) for lag in lags]) / float(off @ off)
    if alike[0] < REMEMBERED:
        return 0.0
    first = min(float(alike[0]) + SHORTENED, 0.9)
    wider = max((1 + first) / (1 - first), 1 + 2 * float((1 - lags / (len(lags) + 1)) @ alike))
    return (wider - 1) / (wider + 1)


def off_levels(logs: np.ndarray, ends: Sequence[int]) -> np.ndarray:
    """Return the deviation of each point from its segment's median."""
    return np.concatenate([logs[a:b] - fast_median(logs[a:b]) for a, b in pairwise(ends)])


def noise_of(off: np.ndarray) -> float:
    """Return the standard deviation of noise around 0, outliers clipped."""
    rough = mad_from_zero(off)
    if rough == 0:
        return _spread(off)
    return 1.02 * _spread(clipped(off, -2.5 * rough, 2.5 * rough))


def noise_of_each(off: np.ndarray) -> np.ndarray:
    """Return the `noise_of` each row, but for rounding."""
    reach = 2.5 * NORMAL * finite_medians(np.abs(off))
    near = np.where(reach > 0, clipped(off, -reach, reach), off)
    spreads = np.sqrt((near * near).mean(axis=1))
    return np.where(reach[:, 0] > 0, 1.02 * spreads, spreads)


def mean(values: np.ndarray) -> float:
    """Return the mean of some values, for a dozen in a third of the time of np.mean."""
    return float(np.add.reduce(values)) / len(values)


def clipped(values: np.ndarray, low: float | np.ndarray, high: float | np.ndarray) -> np.ndarray:
    """Return values within low and high, for a dozen in half the time of np.clip."""
    return np.minimum(np.maximum(values, low), high)


def _spread(off: np.ndarray) -> float:
    return math.sqrt(np.add.reduce(off * off) / len(off)) if len(off) else math.nan


def split_triples(ends: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Yield (start, split, stop) of each split."""
    yield from zip(ends, ends[1:], ends[2:], strict=False)
