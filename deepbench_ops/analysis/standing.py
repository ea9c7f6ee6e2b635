"""Which splits of a series stand: not those that drift, or noise that remembers, explains too."""

import math

import numpy as np

from deepbench_ops.analysis.levels import memory_of, middle, noise_of, off_levels, triples
from deepbench_ops.analysis.splits import ALARMS, split_chance

STEP = 1.4
"""A step smaller than so many times the noise of a point is not told from drift."""

NEAR = 10
"""Points on either side of a split that must differ, too, and by LOCAL times their noise."""
LOCAL = 2.3

LARGE = 4.0
"""A step of so many times the noise stands, however much the noise seems to remember."""

REACH = 400
"""Points on either side of a split that are looked at to judge it."""

WAVES = 4
"""Half periods of the fastest wave that counts as drift."""

STRAIGHT, WAVY, ANOTHER = 1.0, 0.0, 14.0
"""By how much, in twice the logarithm of likelihood beyond what BIC asks, steps must beat a
straight line and waves; and what each further step is charged."""

CREEP = 0.08
"""Relative change from the first ten points to the newest ten that counts even without a clear
step."""


def standing(logs: np.ndarray, ends: list[int]) -> list[int]:
    """Keep the splits that neither drift nor a memory of the noise explains, clearest first."""
    clarity = {b: split_chance(logs[a:c], b - a) for a, b, c in triples(ends)}
    large = LARGE * noise_of(off_levels(logs, ends))
    kept = [0, *(b for a, b, c in triples(ends) if _apart(logs, a, b, c) > large), len(logs)]
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
    before, after = logs[start:place][-NEAR:], logs[place:stop][:NEAR]
    return abs(middle(after) - middle(before))


def _stands(logs: np.ndarray, ends: list[int], place: int) -> bool:
    """Whether a split is a step of its own: large, sharp, and beyond what noise remembers."""
    i = ends.index(place)
    start, stop = max(ends[i - 1], place - REACH), min(ends[i + 1], place + REACH)
    low, high = max(0, start - REACH), min(len(logs), stop + REACH)
    around = [low, *(end for end in ends if low < end < high), high]
    off = off_levels(logs[low:high], [end - low for end in around])
    noise = noise_of(off)
    kept = logs[low:high] - off + np.clip(off, -3 * noise, 3 * noise)
    before, after = kept[start - low : place - low], kept[place - low : stop - low]
    if abs(after.mean() - before.mean()) < STEP * noise:
        return False
    near = min(NEAR, len(before), len(after))
    if abs(after[:near].mean() - before[-near:].mean()) < LOCAL * noise * math.sqrt(2 / near):
        return False
    return split_chance(logs[start:stop], place - start, memory_of(off)) < ALARMS / len(logs)


def _drifts(logs: np.ndarray, ends: list[int]) -> bool:
    """Whether a straight line or slow waves explain the series as well as its steps do."""
    steps = len(ends) - 2
    if not steps:
        return False
    count = len(logs)
    off = off_levels(logs, ends)
    reach = 3 * noise_of(off)
    kept = np.clip(off, -reach, reach)
    series = logs - off + kept
    series -= series.mean()
    power = float(series @ series)
    cost = math.log(count)
    by_steps = _misfit(float(kept @ kept), count) + 2 * steps * cost + (steps - 1) * ANOTHER
    slope = np.arange(count) - (count - 1) / 2
    line = float(slope @ series) ** 2 / float(slope @ slope)
    turns = np.outer(np.arange(1, WAVES + 1), np.arange(count) + 0.5) * math.pi / count
    waves = np.cumsum(np.sort((np.cos(turns) @ series) ** 2)[::-1]) * 2 / count
    by_waves = min(
        _misfit(power - gone, count) + number * (cost + 1) for number, gone in enumerate(waves, 1)
    )
    by_line = _misfit(power - line, count) + cost
    return by_line < by_steps + STRAIGHT or by_waves < by_steps + WAVY


def _misfit(squares: float, count: int) -> float:
    """Return minus twice the logarithm of likelihood of normal noise, but for a constant."""
    return count * math.log(max(squares, 1e-300))


def has_crept(logs: np.ndarray, ends: list[int]) -> bool:
    """Whether the newest points have gone far from the first ones, in whatever way."""
    climb = abs(middle(logs[-NEAR:]) - middle(logs[:NEAR]))
    return climb > max(math.log1p(CREEP), 6 * noise_of(off_levels(logs, ends)))
