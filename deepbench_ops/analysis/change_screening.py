"""Changes of level in many series at once.

Most series have none, and the detector takes a millisecond to say so. Here matrices of numpy make
its first tests, of splits and of the newest points, on all series of one length together, which
takes a tenth of that. Where rounding might decide a test, and where it finds something, the
detector is asked.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
from scipy.special import stdtrit

from deepbench_ops.analysis.change_detection import HISTORY, NEWEST, Change, detect_changes
from deepbench_ops.analysis.change_point_search import (
    WINDOW_SHARE,
    accepted,
    normal_scores,
    windows,
)
from deepbench_ops.analysis.segment_levels import (
    SPIKE,
    neighbours,
    noise_of_each,
    without_spikes,
)
from deepbench_ops.statistics.spread import finite_medians

ROUNDING = 1e-9
"""Relative distance to a limit within which the detector is asked."""

FEWEST = 4
"""Points of the shortest series that can be split, two on each side."""

TOGETHER = 512
"""Series that are tested at once: their matrices stay in the processor's cache."""


def detect_each(several: Sequence[Sequence[float]]) -> list[list[Change]]:
    """Return the changes of each of several series of seconds, as `detect_changes` does."""
    found: list[list[Change]] = [[] for _ in several]
    for places, values in _of_one_length(several):
        asked = ~(np.isfinite(values) & (values > 0)).all(axis=1)
        sound = np.flatnonzero(~asked)
        asked[sound] = may_change(np.log(values[sound]))
        for number in np.flatnonzero(asked).tolist():
            found[places[number]] = detect_changes(several[places[number]])
    return found


def _of_one_length(several: Sequence[Sequence[float]]) -> Iterator[tuple[list[int], np.ndarray]]:
    """Yield series of one length, at most TOGETHER: their places, and series x seconds."""
    alike: dict[int, list[int]] = defaultdict(list)
    for place, seconds in enumerate(several):
        alike[len(seconds)].append(place)
    for places in alike.values():
        for first in range(0, len(places), TOGETHER):
            part = places[first : first + TOGETHER]
            yield part, np.array([several[place] for place in part], dtype=float)


def may_change(logs: np.ndarray) -> np.ndarray:
    """Return for each series whether the detector may find a change in it.

    logs: finite logarithms of seconds, series x points.
    """
    if logs.shape[1] < FEWEST:
        return np.zeros(len(logs), dtype=bool)
    found = _newest_may_change(logs)
    others = np.flatnonzero(~found)
    found[others] = _may_split(_calm(logs[others]))
    return found


def _newest_may_change(logs: np.ndarray) -> np.ndarray:
    """Return whether the newest points may lie beyond the history of a series without splits."""
    found = np.zeros(len(logs), dtype=bool)
    if logs.shape[1] < HISTORY + max(NEWEST):
        return found
    off = logs - finite_medians(logs)
    for count, wanted in NEWEST.items():
        history = logs[:, :-count]
        usual = finite_medians(history)
        shift = np.abs((logs[:, -count:] - usual).mean(axis=1)) * (1 + ROUNDING)
        error = noise_of_each(history - usual) * math.sqrt(1 / count + 1 / history.shape[1])
        past = np.lib.stride_tricks.sliding_window_view(off[:, :-count], count, axis=1)
        largest = np.abs(past.mean(axis=2)).max(axis=1)
        found |= (shift > wanted * error) & (largest < shift / 2)
    return found


def _calm(logs: np.ndarray) -> np.ndarray:
    """Return each series `without_spikes`, which is asked for those that may have any."""
    if logs.shape[1] < 7:
        return logs
    noise = noise_of_each(np.diff(logs))[:, None] / math.sqrt(2) * (1 - ROUNDING)
    around = logs[:, neighbours(logs.shape[1])]
    centre = finite_medians(around)[..., 0]
    beyond = np.maximum(logs - around.max(axis=2), around.min(axis=2) - logs)
    far = (np.abs(logs - centre) > SPIKE * noise) & (beyond > SPIKE / 2 * noise)
    calm = logs.copy()
    for number in np.flatnonzero(far.any(axis=1)).tolist():
        calm[number] = without_spikes(logs[number])
    return calm


def _may_split(logs: np.ndarray) -> np.ndarray:
    """Return whether a series, or a window of it, may have a split."""
    count = logs.shape[1]
    found = _share_reaches(logs, accepted(count))
    for low, high in windows(0, count):
        found |= _share_reaches(logs[:, low:high], accepted(count) * WINDOW_SHARE)
    return found


def _share_reaches(logs: np.ndarray, probability: float) -> np.ndarray:
    """Return whether a place may split series with less than a probability by chance."""
    count = logs.shape[1]
    scores = _scores(logs)
    left = np.arange(2, count - 1)
    sums = np.cumsum(scores, axis=1)[:, left - 1]
    largest = (sums**2 * (count / (left * (count - left)))).max(axis=1)
    least = _least_share(count, probability) * (1 - ROUNDING)
    return np.asarray(largest > least * (scores * scores).sum(axis=1))


def _scores(logs: np.ndarray) -> np.ndarray:
    """Return the normal scores of the ranks in each series, equal values sharing theirs, with mean
    0."""
    count = logs.shape[1]
    order = np.argsort(logs, axis=1)
    ordered = np.take_along_axis(logs, order, axis=1)
    places = np.arange(count)
    new = np.ones(logs.shape, dtype=bool)
    new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    below = np.maximum.accumulate(np.where(new, places, 0), axis=1)
    last = np.roll(new, -1, axis=1)
    through = np.minimum.accumulate(np.where(last, places, count)[:, ::-1], axis=1)[:, ::-1] + 1
    scores = np.empty_like(logs)
    np.put_along_axis(scores, order, normal_scores(count)[below + through], axis=1)
    return np.asarray(scores - scores.mean(axis=1, keepdims=True))


@lru_cache(maxsize=1024)
def _least_share(count: int, probability: float) -> float:
    """Return the share of variance that a split explains with that probability by Student's t."""
    squared = float(stdtrit(count - 2, probability / 2)) ** 2
    return squared / (count - 2 + squared)
