"""Where along a series of seconds did the level change?

Built for what series of benchmarks really look like:

- **Ranks, not values, find a split.** The two sides are judged by the normal scores of their ranks
  (van der Waerden), whose law without a change depends on nothing but the number of points:
  spikes, two modes or long tails do not make alarms.
- **Noise remembers.** Where neighbouring points are alike, levels wander by themselves; the
  correlation that is left beside a split says how much more it has to show.
- **Drift is not a step.** What a straight line or a slow wave explains as well is no change, unless
  the level has climbed so far that this is the news (creep).
- **The newest points** are too few for ranks. They are compared with the history alone: beyond
  its noise, and beyond any excursion that it came back from.

Splits are searched in the whole series, then in its parts, and in windows of them (seeded binary
segmentation, Kovacs, Li, Buehlmann and Munk, Biometrika 2023). `docs/detection.md` shows what is
found and what is found falsely, beside other detectors; the figures below come from there.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from scipy.special import ndtri, stdtr, stdtrit
from scipy.stats import rankdata

CONFIDENCE = 0.99

ALARMS = 0.06
"""Probability of a split by chance that is accepted, over all places of a series together. Nine in
ten of such splits fail the later tests."""

WINDOW = 20
"""Points of the shortest window that is searched by itself."""

WINDOW_SHARE = 1 / 8
"""A window's split has to be that much less probable than one of the whole."""

SPIKE = 4.5
"""A point so many times the noise away from the median of those around it, and half as many from
the nearest, is a spike, if it stands alone."""

RARE = 0.08
"""Where more points than this share are spikes, they are part of the noise."""

STEP = 1.4
"""A step smaller than so many times the noise of a point is not told from drift."""

NEAR = 10
"""Points on either side of a split that must differ, too, and by LOCAL times their noise."""
LOCAL = 2.3

LARGE = 4.0
"""A step of so many times the noise stands, however much the noise seems to remember."""

MEMORY = 0.25
"""Correlation between neighbours from which noise is taken to remember."""

SHORTENED = 0.05
"""What removing levels takes off such a correlation, by about as much at every lag."""

REACH = 400
"""Points on either side of a split that are looked at to judge it."""

WAVES = 4
"""Half periods of the fastest wave that counts as drift."""

STRAIGHT, WAVY, ANOTHER = 1.0, 0.0, 14.0
"""By how much, in twice the logarithm of likelihood beyond what BIC asks, steps must beat a
straight line and waves; and what each further step is charged."""

SMALLEST = 0.005
"""A change of less than half a percent is not called one, however certain."""

CREEP = 0.08
"""Relative change from a series' first level to its last that counts even without a clear step."""

NEWEST = {1: 4.2, 2: 4.0}
"""How many times its noise one newest point must lie beyond the history, and the last two."""

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


@dataclass(frozen=True)
class _Split:
    """The clearest place to split a window, and its probability under no change."""

    place: int
    probability: float


def detect_changes(
    seconds: Sequence[float], intervals: Sequence[tuple[float, float]] | None = None
) -> list[Change]:
    """Return the changes of level along a series, in order.

    Points that are not positive and finite are passed over. `intervals` are the (low, high) of
    99 % of each point's seconds: where they are wider than the points scatter, they are the
    noise. Up to ten points have no change, since they may stand in any order by chance;
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
    calm = _calm(logs)
    ends = _settled(calm, _segments(calm))
    creeps = _creeps(calm, ends)
    if not creeps:
        ends = _settled(calm, _standing(calm, ends))
    changes = _described(calm, _placed(calm, ends), usable, floor, remembers=not creeps)
    newest = _newest(logs, ends, floor)
    if newest is not None:
        count, change = newest
        changes.append(replace(change, index=int(usable[len(logs) - count])))
    return changes


# Searching


def _segments(logs: np.ndarray) -> list[int]:
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
    level = ALARMS / len(logs)
    whole = _best_split(logs[start:stop])
    if whole is not None and whole.probability < level:
        return start + whole.place
    found = [
        _Split(low + split.place, split.probability)
        for low, high in _windows(start, stop)
        if (split := _best_split(logs[low:high])) is not None
        and split.probability < level * WINDOW_SHARE
    ]
    return min(found, key=lambda split: split.probability).place if found else None


def _windows(start: int, stop: int) -> Iterator[tuple[int, int]]:
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
    return _Split(int(left[best]), _probability(float(shares[best]), int(left[best]), count))


def _scores(logs: np.ndarray) -> np.ndarray:
    """Return normal scores of the ranks, with mean 0."""
    scores = ndtri((rankdata(logs) - 0.5) / len(logs))
    return scores - scores.mean()


def _share(logs: np.ndarray, left: int) -> float:
    """Return how much of the scores' variance a split after `left` points explains."""
    scores = _scores(logs)
    power = float(scores @ scores)
    count = len(logs)
    return float(scores[:left].sum()) ** 2 * count / (left * (count - left)) / power


def _probability(share: float, left: int, count: int, inflation: float = 1.0) -> float:
    """Return the two-sided probability of a share of variance explained by a split.

    By Student's t, and no less than that of one of all the ways to order so many points.
    """
    freedom = count - 2
    t = math.sqrt(freedom * share / max(1 - share, 1e-12)) / inflation
    orders = math.lgamma(count + 1) - math.lgamma(left + 1) - math.lgamma(count - left + 1)
    return max(2 * float(stdtr(freedom, -t)), 2 * math.exp(-orders))


# Judging


def _standing(logs: np.ndarray, ends: list[int]) -> list[int]:
    """Keep the splits that neither drift nor a memory of the noise explains, clearest first."""
    clarity = {
        b: _probability(_share(logs[a:c], b - a), b - a, c - a) for a, b, c in _triples(ends)
    }
    large = LARGE * _noise(_off(logs, ends))
    kept = [0, *(b for a, b, c in _triples(ends) if _apart(logs, a, b, c) > large), len(logs)]
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
    return abs(float(np.median(after) - np.median(before)))


def _stands(logs: np.ndarray, ends: list[int], place: int) -> bool:
    """Whether a split is a step of its own: large, sharp, and beyond what noise remembers."""
    i = ends.index(place)
    start, stop = max(ends[i - 1], place - REACH), min(ends[i + 1], place + REACH)
    low, high = max(0, start - REACH), min(len(logs), stop + REACH)
    around = [low, *(end for end in ends if low < end < high), high]
    off = _off(logs[low:high], [end - low for end in around])
    noise = _noise(off)
    kept = logs[low:high] - off + np.clip(off, -3 * noise, 3 * noise)
    before, after = kept[start - low : place - low], kept[place - low : stop - low]
    if abs(after.mean() - before.mean()) < STEP * noise:
        return False
    near = min(NEAR, len(before), len(after))
    if abs(after[:near].mean() - before[-near:].mean()) < LOCAL * noise * math.sqrt(2 / near):
        return False
    left, count = place - start, stop - start
    share = _share(logs[start:stop], left)
    return _probability(share, left, count, _memory(off)) < ALARMS / len(logs)


def _memory(off: np.ndarray) -> float:
    """Return how many times wider levels scatter than under noise that does not remember."""
    noise = _noise(off)
    if noise == 0:
        return 1.0
    off = np.clip(off, -3 * noise, 3 * noise)
    off = off - off.mean()
    lags = np.arange(1, max(1, min(len(off) // 5, 16)) + 1)
    alike = np.array([float(off[lag:] @ off[:-lag]) for lag in lags]) / float(off @ off)
    if alike[0] + SHORTENED < MEMORY:
        return 1.0
    first = min(float(alike[0]) + SHORTENED, 0.9)
    long = 1 + 2 * float((1 - lags / (len(lags) + 1)) @ alike)
    return math.sqrt(max(1.0, (1 + first) / (1 - first), long))


def _drifts(logs: np.ndarray, ends: list[int]) -> bool:
    """Whether a straight line or slow waves explain the series as well as its steps do."""
    steps = len(ends) - 2
    if not steps:
        return False
    count = len(logs)
    off = _off(logs, ends)
    reach = 3 * _noise(off)
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


def _creeps(logs: np.ndarray, ends: list[int]) -> bool:
    """Whether the level has gone far from where it began, in whatever way."""
    climb = abs(float(np.median(logs[ends[-2] :]) - np.median(logs[: ends[1]])))
    return climb > max(math.log1p(CREEP), 6 * _noise(np.diff(logs)) / math.sqrt(2))


def _newest(
    logs: np.ndarray, ends: list[int], floor: np.ndarray | None
) -> tuple[int, Change] | None:
    """Return how many of the newest points, one or two, lie beyond the history, and the change."""
    if len(logs) - ends[-2] < HISTORY + max(NEWEST):
        return None
    off = _off(logs, ends)
    for count, wanted in NEWEST.items():
        history, tail = logs[ends[-2] : -count], logs[-count:] - np.median(logs[ends[-2] : -count])
        shift = float(tail.mean())
        noise = max(_noise(history - np.median(history)), _mean_floor(floor))
        error = noise * math.sqrt(1 / count + 1 / len(history))
        one_way = bool(np.all(tail * shift > 0))
        past = np.convolve(off[:-count], np.full(count, 1 / count), "valid")
        if (
            error
            and one_way
            and abs(shift) > wanted * error
            and np.abs(past).max() < abs(shift) / 2
        ):
            freedom = len(history) - 1
            chance = 2 * float(stdtr(freedom, -abs(shift) / error))
            return count, _ratio(shift, error, freedom, chance)
    return None


# Levels


def _calm(logs: np.ndarray) -> np.ndarray:
    """Return the series with spikes flattened: single points far beyond those around, if rare."""
    noise = _noise(np.diff(logs)) / math.sqrt(2)
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


def _settled(logs: np.ndarray, ends: list[int]) -> list[int]:
    """Move each split to where the two levels beside it leave the least squares."""
    ends = list(ends)
    for i in range(1, len(ends) - 1):
        gains = _gains(logs, *ends[i - 1 : i + 2])
        if len(gains):
            ends[i] = ends[i - 1] + 2 + int(np.argmax(gains))
    return ends


def _placed(logs: np.ndarray, ends: list[int]) -> list[int]:
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
    noise = _noise(_off(part, [0, left, count]))
    if count < 5 or noise == 0:
        return np.empty(0)
    part = np.clip(part, min(levels) - 3 * noise, max(levels) + 3 * noise)
    lefts = np.arange(2, count - 1)
    sums = np.cumsum(part - part.mean())[lefts - 1]
    return np.asarray(sums**2 * count / (lefts * (count - lefts)) / noise**2)


def _off(logs: np.ndarray, ends: Sequence[int]) -> np.ndarray:
    """Return how far each point is off its segment's median."""
    return np.concatenate([logs[a:b] - np.median(logs[a:b]) for a, b in pairwise(ends)])


def _noise(off: np.ndarray) -> float:
    """Return the standard deviation of noise around 0, outliers clipped."""
    rough = float(np.median(np.abs(off))) / 0.6745
    if rough == 0:
        return float(np.sqrt(np.mean(off**2)))
    kept = np.clip(off, -2.5 * rough, 2.5 * rough)
    return 1.02 * float(np.sqrt(np.mean(kept**2)))


def _triples(ends: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Yield (start, split, stop) of each split."""
    yield from zip(ends, ends[1:], ends[2:], strict=False)


# What a change is called


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
    """Return the usual error of a point, 0 where no interval tells."""
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
    """Return the changes between segments, those that are none being joined, the least first.

    None are those whose interval holds 1, or that are too small to matter.
    """
    while True:
        changes = [
            replace(_change(logs[a:c], b - a, len(logs), floor, remembers), index=int(usable[b]))
            for a, b, c in _triples(ends)
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
    shift = float(np.median(logs[left:]) - np.median(logs[:left]))
    off = _off(logs, [0, left, count])
    inflation = _memory(off) if remembers else 1.0
    noise = max(_noise(off), _mean_floor(floor))
    error = noise * inflation * math.sqrt(math.pi / 2 * (1 / left + 1 / (count - left)))
    chance = places * _probability(_share(logs, left), left, count, inflation)
    return _ratio(shift, error, count - 2, chance)


def _ratio(shift: float, error: float, freedom: int, chance: float) -> Change:
    reach = float(stdtrit(freedom, (1 + CONFIDENCE) / 2)) * error
    ratio, low, high = (math.exp(shift + way * reach) for way in (0, -1, 1))
    return Change(0, ratio, low, high, 1 - min(1.0, chance))
