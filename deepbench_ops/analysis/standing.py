"""Which splits of a series stand: not those that drift, or noise that remembers, explains too."""

import math
from functools import lru_cache

import numpy as np

from deepbench_ops.analysis.levels import memory_of, middle, noise_of, off_levels, triples
from deepbench_ops.analysis.splits import accepted, split_chance

STEP, FURTHER = 1.0, 1.4
"""A step smaller than so many times the noise of a point is not told from drift, alone or beside
clearer ones."""

SLIGHT, MISSED = 2.45, 16.0
"""A smaller step is fitted as one of so many times the noise, and misses by the rest, at most by so
much: drift as high as the noise looks like a step of once or twice the noise, and a long series
shows a small step all the same."""

NEAR = 10
"""Points on either side of a split that must differ, too, and by LOCAL times their noise."""
LOCAL = 2.3

LARGE = 4.0
"""A step of so many times the noise stands, however much the noise seems to remember."""

REACH = 400
"""Points on either side of a split that are looked at to judge it."""

TURNS = np.linspace(0.5, 1.35, 8)[:, None]
"""How often a slow wave comes and goes in a whole series: faster ones look like several steps."""

STRAIGHT, WAVY, ANOTHER = -8.0, -2.2, 14.0
"""By how much, in twice the logarithm of likelihood beyond what BIC asks, steps must beat a
straight line and a slow wave; and what each further step is charged."""

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
    least = STEP if len(ends) == 3 else FURTHER
    if abs(after.mean() - before.mean()) < least * noise:
        return False
    near = min(NEAR, len(before), len(after))
    if abs(after[:near].mean() - before[-near:].mean()) < LOCAL * noise * math.sqrt(2 / near):
        return False
    return split_chance(logs[start:stop], place - start, memory_of(off)) < accepted(len(logs))


def _drifts(logs: np.ndarray, ends: list[int]) -> bool:
    """Whether a straight line or a slow wave explains the series as well as its steps do."""
    steps = len(ends) - 2
    if not steps:
        return False
    count = len(logs)
    off = off_levels(logs, ends)
    reach = 3 * noise_of(off)
    kept = np.clip(off, -reach, reach)
    squares = float(kept @ kept)
    if not squares:
        return False
    series = logs - off + kept
    series -= series.mean()
    power = float(series @ series)
    cost = math.log(count)
    short = _shortfall(series, ends, math.sqrt(squares / (count - len(ends))))
    by_steps = _misfit(squares, count) + short + 2 * steps * cost + (steps - 1) * ANOTHER
    by_line = _misfit(power - _line(series), count) + cost
    by_wave = _misfit(power - _wave(series), count) + 3 * cost
    return by_line < by_steps + STRAIGHT or by_wave < by_steps + WAVY


def _shortfall(series: np.ndarray, ends: list[int], noise: float) -> float:
    """Return the squares, in noise squared, that slight steps miss when fitted as SLIGHT ones."""
    missed = 0.0
    for a, b, c in triples(ends):
        step = abs(float(series[b:c].mean() - series[a:b].mean())) / noise
        missed += min(MISSED, max(0.0, SLIGHT - step) ** 2 * (b - a) * (c - b) / (c - a))
    return missed


def _line(series: np.ndarray) -> float:
    """Return the squares that a straight line explains of a series around 0."""
    slope = np.arange(len(series)) - (len(series) - 1) / 2
    return float(slope @ series) ** 2 / float(slope @ slope)


def _wave(series: np.ndarray) -> float:
    """Return the squares that the best slow wave explains of a series around 0."""
    along = _slow_waves(len(series)) @ series
    return float((along**2).sum(axis=0).max())


@lru_cache(maxsize=8)
def _slow_waves(count: int) -> np.ndarray:
    """Return sines and cosines (2 x turns x points) around 0, of length 1.

    Their angles count from the middle, so that neither has anything of the other's.
    """
    angles = 2 * math.pi * TURNS * ((np.arange(count) + 0.5) / count - 0.5)
    waves = np.stack([np.sin(angles), np.cos(angles)])
    waves -= waves.mean(axis=2, keepdims=True)
    return np.asarray(waves / np.sqrt((waves**2).sum(axis=2, keepdims=True)))


def _misfit(squares: float, count: int) -> float:
    """Return minus twice the logarithm of likelihood of normal noise, but for a constant."""
    return count * math.log(max(squares, 1e-300))


def has_crept(logs: np.ndarray, ends: list[int]) -> bool:
    """Whether the newest points have gone far from the first ones, in whatever way."""
    climb = abs(middle(logs[-NEAR:]) - middle(logs[:NEAR]))
    return climb > max(math.log1p(CREEP), 6 * noise_of(off_levels(logs, ends)))
