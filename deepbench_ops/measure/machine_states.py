"""States of a machine: how far apart its cores lie, by the latency between two of them.

The host of a virtual machine moves the virtual cores near each other or far apart for minutes at a
time (`core_latency`). The latency tells the two apart; which values it takes differs between
machines. So the levels at which readings lie close together are learned, and a state is the name
of a reading's level. On some machines the readings of a state spread by a third: a level reaches as
far as they lie dense. bench/state_comparison.py prints the times of kernels in each,
bench/state_reach.py those of sweeps at the edge of a state.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise

LEVEL_RATIO = 1.35
"""Levels lie at least this factor apart; a reading within its root belongs to the level."""

STEPS = 8
"""So many steps divide the range within the root of `LEVEL_RATIO` on both sides of a level."""
STEP = LEVEL_RATIO ** (1 / STEPS)
"""Factor from the begin of a step to its end."""
DENSE = 0.15
"""A level reaches further, step by step, while each step holds at least this share of the number of
readings in the fullest one."""

FURTHEST = LEVEL_RATIO**1.5
"""A history whose latencies are at least this factor away from every level is of none."""

FEWEST_READINGS = 3
"""So many readings make a level."""

LEAST_SHARE = 0.02
"""Share of all readings that a level must have as well: of thousands, a few stray ones lie close
together by chance."""

ONE_LEVEL, NEAR, FAR = "one level", "near", "far"
UNKNOWN_STATE = "unknown"
"""State of a reading that fits no level: it is equal to no other."""
CHANGED = "changed in between"
"""State of readings that disagree: the machine changed while something was measured."""

INCOMPARABLE = {UNKNOWN_STATE, CHANGED}
"""States in which nothing can be compared, not even with itself."""


def learned(readings: Iterable[float], known: Iterable[float] = ()) -> list[float]:
    """Return the levels of readings in nanoseconds, ascending.

    known: levels of earlier readings; they stay as they are. A further level is where most of the
    readings that fit none lie within `LEVEL_RATIO` of each other, `FEWEST_READINGS` at least and
    `LEAST_SHARE` of all; then the next such place. The sparse edge of a level is none: there is a
    gap in between. The order of readings does not matter.
    """
    levels, readings = sorted(known), sorted(readings)
    fewest = max(FEWEST_READINGS, LEAST_SHARE * len(readings))
    ranges = reaches(levels, readings)
    left = _outside(readings, ranges)
    while len(left) >= fewest:
        group = _densest(left)
        if len(group) < fewest:
            break
        centre = math.sqrt(min(group) * max(group))
        if _is_further(centre, group, ranges, readings):
            levels = sorted([*levels, centre])
            ranges = reaches(levels, readings)
        first, last = group[0], group[-1]
        left = _outside((each for each in left if not first <= each <= last), ranges)
    return levels


def reaches(
    levels: Iterable[float], readings: Iterable[float]
) -> Mapping[float, tuple[float, float]]:
    """Return the range of readings in nanoseconds that belong to each level, the end excluded.

    It holds all within the root of `LEVEL_RATIO`, and beyond that those that lie dense
    (`DENSE`), at most halfway to the next level.
    """
    levels, ascending = sorted(levels), sorted(readings)
    halfway = [math.sqrt(low * high) for low, high in pairwise(levels)]
    bounds = zip([0.0, *halfway], [*halfway, math.inf], strict=True)
    return {
        level: _reach(level, ascending, *two) for level, two in zip(levels, bounds, strict=False)
    }


def level_of(reading: float, levels: Iterable[float]) -> float | None:
    """Return the level that a reading belongs to whatever other readings there are, None where it
    fits none."""
    return next(
        (level for level in levels if not _apart(reading, level, math.sqrt(LEVEL_RATIO))), None
    )


def nearest(reading: float, levels: Iterable[float]) -> float | None:
    """Return the level whose ratio to a reading is least, None where it is `FURTHEST` or more."""
    level = min(levels, key=lambda level: abs(math.log(level / reading)))
    return None if _apart(reading, level, FURTHEST) else level


def fits(reading: float, level: float) -> bool:
    """Return whether a reading belongs to a level."""
    return level_of(reading, [level]) is not None


def name(level: float | None, levels: Sequence[float]) -> str:
    """Return the name of a level among all of a machine's; "unknown" for none.

    "near" and "far" of two, further ones in between as "level 2 of 3"; "one level" of one alone.
    """
    if level is None or level not in levels:
        return UNKNOWN_STATE
    place, count = sorted(levels).index(level), len(levels)
    if count == 1:
        return ONE_LEVEL
    return {0: NEAR, count - 1: FAR}.get(place, f"level {place + 1} of {count}")


def state(readings: Iterable[float], levels: Sequence[float]) -> str:
    """Return the state that readings before and after a measurement show.

    "" without readings or levels. It is unknown where one of them fits no level.
    """
    return namer(levels)(readings)


def namer(levels: Sequence[float], known: Iterable[float] = ()) -> Callable[[Iterable[float]], str]:
    """Return `state` for these levels, as a function that remembers the readings it has named.

    known: all readings of the machine in nanoseconds, which tell how far each level reaches.
    """
    ranges = reaches(levels, known)

    @cache
    def named(reading: float) -> str:
        own = (level for level, (low, end) in ranges.items() if low <= reading < end)
        return name(next(own, None), levels)

    return lambda readings: together({named(each) for each in readings}) if levels else ""


def together(states: Iterable[str]) -> str:
    """Return the state of several measurements that one time stands for; "" where none is known."""
    known = {each for each in states if each}
    if UNKNOWN_STATE in known:
        return UNKNOWN_STATE
    return "" if not known else known.pop() if len(known) == 1 else CHANGED


def _outside(readings: Iterable[float], ranges: Mapping[float, tuple[float, float]]) -> list[float]:
    """Return the readings that belong to no level."""
    return [each for each in readings if not any(low <= each < end for low, end in ranges.values())]


def _is_further(
    centre: float,
    group: Sequence[float],
    ranges: Mapping[float, tuple[float, float]],
    ascending: Sequence[float],
) -> bool:
    """Return whether a group of readings is a level of its own.

    It is one if readings within the root of `LEVEL_RATIO` of its centre belong to no level yet, and
    if towards each level some step has at most half of the readings of the group's fullest step.
    ranges: those of the levels. ascending: all readings.
    """
    root = math.sqrt(LEVEL_RATIO)
    fullest = max(group, key=lambda low: _count(ascending, low))
    most = _count(ascending, fullest)
    for low, end in ranges.values():
        if low / root < centre < end * root:
            return False
        between, to = (end, fullest) if end <= fullest else (fullest, low)
        counts = []
        while between < to:
            counts.append(_count(ascending, between))
            between *= STEP
        if min(counts, default=0) > most / 2:
            return False
    return True


def _count(ascending: Sequence[float], low: float) -> int:
    """Return how many readings lie in the step that begins there."""
    return bisect_left(ascending, low * STEP) - bisect_left(ascending, low)


def _reach(
    level: float, ascending: Sequence[float], least: float, most: float
) -> tuple[float, float]:
    """Return the range of one level, between those bounds."""
    low, end = level / math.sqrt(LEVEL_RATIO), level * math.sqrt(LEVEL_RATIO)
    fullest = max(_count(ascending, low * STEP**step) for step in range(STEPS))
    while low / STEP > least:
        further = _count(ascending, low / STEP)
        if further < max(FEWEST_READINGS, DENSE * fullest):
            break
        low /= STEP
        fullest = max(fullest, further)
    while end * STEP < most:
        further = _count(ascending, end)
        if further < max(FEWEST_READINGS, DENSE * fullest):
            break
        end *= STEP
        fullest = max(fullest, further)
    return low, end


def _densest(ascending: Sequence[float]) -> Sequence[float]:
    """Return the most readings within `LEVEL_RATIO` of each other, of several the lowest."""
    ends = [bisect_left(ascending, low * LEVEL_RATIO) for low in ascending]
    first = max(range(len(ends)), key=lambda start: ends[start] - start)
    return ascending[first : ends[first]]


def _apart(one: float, other: float, factor: float = LEVEL_RATIO) -> bool:
    return max(one, other) >= factor * min(one, other)
