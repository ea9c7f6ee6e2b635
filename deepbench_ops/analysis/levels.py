"""The levels between the splits of a series, and the noise about them. All in logarithms."""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

SPIKE = 4.5
"""A point so many times the noise away from the median of those around it, and half as many from
the nearest, is a spike, if it stands alone."""

RARE = 0.08
"""Where more points than this share are spikes, they are part of the noise."""


def calmed(logs: np.ndarray) -> np.ndarray:
    """Return the series with spikes flattened: single points far beyond those around, if rare."""
    noise = noise_of(np.diff(logs)) / math.sqrt(2)
    padded = np.concatenate([logs[:3][::-1], logs, logs[-3:][::-1]])
    if noise == 0 or len(padded) < 7:
        return logs
    around = np.delete(np.lib.stride_tricks.sliding_window_view(padded, 7), 3, axis=1)
    middle = np.median(around, axis=1)
    beyond = np.maximum(logs - around.max(axis=1), around.min(axis=1) - logs)
    far = (np.abs(logs - middle) > SPIKE * noise) & (beyond > SPIKE / 2 * noise)
    far[-1] = False  # the newest has nothing behind it that would tell
    alone = far.copy()
    alone[1:] &= ~far[:-1]
    alone[:-1] &= ~far[1:]
    return logs if alone.mean() > RARE else np.where(alone, middle, logs)


def settled(logs: np.ndarray, ends: list[int]) -> list[int]:
    """Move each split to where the two levels beside it leave the least squares."""
    ends = list(ends)
    for i in range(1, len(ends) - 1):
        gains = _gains(logs, *ends[i - 1 : i + 2])
        if len(gains):
            ends[i] = ends[i - 1] + 2 + int(np.argmax(gains))
    return ends


def placed(logs: np.ndarray, ends: list[int]) -> list[int]:
    """Move each split to where, within two points, it most probably is."""
    ends = list(ends)
    for i in range(1, len(ends) - 1):
        gains = _gains(logs, *ends[i - 1 : i + 2])
        if len(gains):
            likely = np.exp((gains - gains.max()) / 2)
            near = np.convolve(likely, np.ones(5), "full")[2:-2]
            ends[i] = ends[i - 1] + 2 + int(np.argmax(near + 1e-9 * likely))
    return ends


def _gains(logs: np.ndarray, start: int, place: int, stop: int) -> np.ndarray:
    """Return what each split of start..stop, from two points on, explains, in noise squared.

    Points beyond three times the noise from either level are clipped.
    """
    part = logs[start:stop]
    count = len(part)
    left = place - start
    levels = np.median(part[:left]), np.median(part[left:])
    noise = noise_of(off_levels(part, [0, left, count]))
    if count < 5 or noise == 0:
        return np.empty(0)
    part = np.clip(part, min(levels) - 3 * noise, max(levels) + 3 * noise)
    lefts = np.arange(2, count - 1)
    sums = np.cumsum(part - part.mean())[lefts - 1]
    return np.asarray(sums**2 * count / (lefts * (count - lefts)) / noise**2)


def off_levels(logs: np.ndarray, ends: Sequence[int]) -> np.ndarray:
    """Return how far each point is off its segment's median."""
    return np.concatenate([logs[a:b] - np.median(logs[a:b]) for a, b in pairwise(ends)])


def noise_of(off: np.ndarray) -> float:
    """Return the standard deviation of noise around 0, outliers clipped."""
    rough = float(np.median(np.abs(off))) / 0.6745
    if rough == 0:
        return float(np.sqrt(np.mean(off**2)))
    kept = np.clip(off, -2.5 * rough, 2.5 * rough)
    return 1.02 * float(np.sqrt(np.mean(kept**2)))


def triples(ends: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Yield (start, split, stop) of each split."""
    yield from zip(ends, ends[1:], ends[2:], strict=False)
