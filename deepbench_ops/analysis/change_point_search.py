"""Search for places where the level of a series may change, by the ranks of its points.

The whole series is searched first, then the parts between the places found, then short windows.

Seeded binary segmentation (Kovacs, Li, Buehlmann and Munk, Biometrika 2023) with the two-sample
test of van der Waerden. The candidates are judged by `drift_rejection`.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import ndtri, stdtr

from deepbench_ops.analysis.segment_levels import explained_squares, mean

ALARMS, SHORT_ALARMS = 0.02, 0.04
"""Accepted probability that noise alone gives a split, over all places of a series together.

Few of these splits pass the later tests. Short series have too few orders for a lower one.
"""

SHORT = 30
"""A series of fewer points is short."""

WINDOW = 20
"""Points of the shortest window that is searched by itself."""

WINDOW_SHARE = 1 / 8
"""A window's split has to be that much less probable than one of the whole."""


@dataclass(frozen=True)
class _Split:
    """The clearest place to split a window, and its probability under no change."""

    place: int
    probability: float


def segments(logs: np.ndarray) -> list[int]:
    """Return the ends of the segments between splits, 0 and the length included."""
    ends = [0]
    parts = [(0, len(logs))]
    while parts:
        start, stop = parts.pop()
        place = _place(logs, start, stop)
        if place is None:
            ends.append(stop)
        else:
            parts += [(place, stop), (start, place)]
    return ends


def _place(logs: np.ndarray, start: int, stop: int) -> int | None:
    """Return where to split a part: by the whole of it, else by the clearest of its windows."""
    level = accepted(len(logs))
    whole = _best_split(logs[start:stop])
    if whole is not None and whole.probability < level:
        return start + whole.place
    found = [
        _Split(low + split.place, split.probability)
        for low, high in windows(start, stop)
        if (split := _best_split(logs[low:high])) is not None
        and split.probability < level * WINDOW_SHARE
    ]
    return min(found, key=lambda split: split.probability).place if found else None


def accepted(count: int) -> float:
    """Return the probability by chance at which one place of so many points may be a split."""
    return (SHORT_ALARMS if count < SHORT else ALARMS) / count


def windows(start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Yield windows of WINDOW points, twice, four times ... as many, each half over the next."""
    length = WINDOW
    while length < stop - start:
        last = stop - length
        for low in range(start, last, length // 2):
            yield low, low + length
        yield last, stop
        length *= 2


def _best_split(logs: np.ndarray) -> _Split | None:
    """Return the clearest split of a window into two parts of two points at least."""
    count = len(logs)
    if count < 4:
        return None
    scores = _scores(logs)
    power = float(scores @ scores)
    if power == 0:
        return None
    left = np.arange(2, count - 1)
    shares = np.cumsum(scores)[left - 1] ** 2 * count / (left * (count - left)) / power
    best = int(np.argmax(shares))
    return _Split(int(left[best]), _chance(float(shares[best]), int(left[best]), count))


def _scores(logs: np.ndarray) -> np.ndarray:
    """Return normal scores of the ranks, equal values sharing theirs, with mean 0."""
    ordered = np.sort(logs)
    below, through = ordered.searchsorted(logs, "left"), ordered.searchsorted(logs, "right")
    scores = normal_scores(len(logs))[below + through]
    return scores - mean(scores)


@lru_cache(maxsize=1024)
def normal_scores(count: int) -> np.ndarray:
    """Return the normal scores of 0, 1/2, 1 ... points below, of so many points."""
    return np.asarray(ndtri(np.arange(2 * count + 1) / (2 * count)))


def split_chance(logs: np.ndarray, left: int, memory: float = 0.0) -> float:
    """Return the probability that no change gives a split after `left` points.

    By ranks; where the noise remembers, by the new part of each point.
    """
    count = len(logs)
    if memory:
        gains = explained_squares(logs, 0, left, count, memory=memory)
        return 2 * float(stdtr(count - 2, -math.sqrt(gains[left - 2]))) if len(gains) else 1.0
    scores = _scores(logs)
    power = float(scores @ scores)
    share = float(scores[:left].sum()) ** 2 * count / (left * (count - left)) / power
    return _chance(share, left, count)


def _chance(share: float, left: int, count: int) -> float:
    """Return the two-sided probability of a share of variance explained by a split.

    By Student's t, and no less than that of one of all the ways to order so many points.
    """
    freedom = count - 2
    t = math.sqrt(freedom * share / max(1 - share, 1e-12))
    orders = math.lgamma(count + 1) - math.lgamma(left + 1) - math.lgamma(count - left + 1)
    return max(2 * float(stdtr(freedom, -t)), 2 * math.exp(-orders))
