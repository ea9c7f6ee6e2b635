"""Times of releases from the rounds of an ensemble.

Rounds give ratios to the anchor. The anchor's own seconds are its calibrated level over all rounds,
from the yardstick's readings in the same sweeps; every other release has the anchor's seconds times
its ratio. So the noise of the calibration is common to a line, and cancels where its points are
compared. All rounds of a kernel in one state of the machine count together (`preferred_state`),
whatever blocks they are of: a release without rounds with the anchor is compared with it through
the release that both have most rounds with.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from deepbench_ops.analysis.verdict import FEWEST_ROUNDS
from deepbench_ops.measure import preferred_state
from deepbench_ops.measure.ensemble_round import Round
from deepbench_ops.statistics.confidence import CONFIDENCE
from deepbench_ops.statistics.ruined_rounds import Location, locate

Levels = list[tuple[float, float]]
"""A logarithm of each round, with the variance that the round's own sweeps leave it."""


@dataclass(frozen=True)
class ReleaseTime:
    """The time of a kernel on one release.

    seconds: of one call. low, high: interval of 99 % of the ratio to the anchor, in seconds; of the
    anchor the interval of its own noise. samples: one of each round, in seconds. ratio, with
    ratio_low and ratio_high: to the anchor, 1 for the anchor itself.
    """

    seconds: float
    low: float
    high: float
    samples: tuple[float, ...]
    ratio: float
    ratio_low: float
    ratio_high: float


@dataclass(frozen=True)
class ReleaseTimes:
    """Times of a kernel on all releases that have them, and the anchor's level.

    seconds, low, high: those of the anchor over rounds, with the noise of the calibration.
    calibrated: whether they are; raw seconds otherwise. state: of the machine in all rounds used,
    "" where it is not known. rounds: those used.
    """

    anchor: str
    seconds: float
    low: float
    high: float
    calibrated: bool
    of: Mapping[str, ReleaseTime]
    state: str
    rounds: Sequence[Round]


def anchor_of(rounds: Sequence[Round]) -> str:
    """Return the anchor of most of a kernel's rounds that has times in them, "" without any."""
    counts = Counter(each.anchor for each in rounds if each.anchor in each.names)
    counts = counts or Counter(name for each in rounds for name in each.names)
    return max(sorted(counts), key=counts.__getitem__, default="")


def release_times(all_rounds: Sequence[Round]) -> ReleaseTimes | None:
    """Return the times that a kernel's rounds give; None where there are too few of the anchor.

    Rounds of other states of the machine than the one with most rounds are left out, as are
    releases of fewer than three rounds.
    """
    state, rounds, _ = preferred_state.select(all_rounds)
    anchor = anchor_of(rounds)
    calibrated = [each for each in rounds if each.is_calibrated]
    has_yardstick = len(calibrated) >= FEWEST_ROUNDS
    levels = _finite(
        [each.level(anchor, has_yardstick) for each in (calibrated if has_yardstick else rounds)]
    )
    if len(levels) < FEWEST_ROUNDS:
        return None
    location = _location(levels)
    seconds = math.exp(float(location.median))
    low, high = (math.exp(float(bound)) for bound in location.interval(1 - CONFIDENCE))
    names = sorted({name for each in rounds for name in each.names} - {anchor})
    logs = {name: found for name in names if (found := _relative(rounds, anchor, name))}
    of = {name: _value(seconds, *each) for name, each in logs.items()}
    if of:
        own = _value(seconds, *_own_noise(rounds, anchor, logs, levels))
        of[anchor] = ReleaseTime(seconds, own.low, own.high, own.samples, 1.0, 1.0, 1.0)
    return ReleaseTimes(anchor, seconds, low, high, has_yardstick, of, state, rounds)


def _relative(
    rounds: Sequence[Round], anchor: str, name: str
) -> tuple[Location, list[float]] | None:
    """Return the distribution of the logarithm of a release's ratio to the anchor, and that of each
    round; None where there are too few rounds."""
    direct = _between(rounds, anchor, name)
    if len(direct) >= FEWEST_ROUNDS:
        return _location(direct), [level for level, _ in direct]
    others = sorted({each for one in rounds for each in one.names} - {anchor, name})
    legs = [(_between(rounds, each, name), _between(rounds, each, anchor)) for each in others]
    there, back = max(legs, key=lambda two: min(map(len, two)), default=([], []))
    if min(len(there), len(back)) < FEWEST_ROUNDS:
        return None
    to_anchor = _location(back)
    moved = [level - float(to_anchor.median) for level, _ in there]
    return _location(there).minus(to_anchor), moved


def _own_noise(
    rounds: Sequence[Round],
    anchor: str,
    logs: Mapping[str, tuple[Location, list[float]]],
    levels: Levels,
) -> tuple[Location, list[float]]:
    """Return the anchor's distance in each round from the consensus of the others, by which all
    ratios of the round are off, as a distribution about zero.

    levels: the anchor's own, which count where too few rounds have another release.
    """
    found: Levels = []
    for each in rounds:
        off = [
            (float(location.median) - level, variance)
            for name, (location, _) in logs.items()
            for level, variance in [each.difference(anchor, name)]
            if math.isfinite(level)
        ]
        if off:
            found.append((float(np.median([one for one, _ in off])), min(v for _, v in off)))
    if len(found) < FEWEST_ROUNDS:  # all are led to the anchor by another release
        found = levels
    middle = float(_location(found).median)
    centred = [(level - middle, variance) for level, variance in found]
    return _location(centred), [level for level, _ in centred]


def _value(seconds: float, location: Location, logs: Sequence[float]) -> ReleaseTime:
    """Return the time at a distribution of logarithms over the anchor's seconds."""
    # Between its samples, as every stored time has to be, also where few and ruined rounds
    # leave the level outside.
    middle = min(max(float(location.median), min(logs)), max(logs))
    low, high = (float(bound) for bound in location.interval(1 - CONFIDENCE))
    ratio, low, high = (math.exp(log) for log in (middle, min(low, middle), max(high, middle)))
    samples = tuple(seconds * math.exp(log) for log in logs)
    return ReleaseTime(seconds * ratio, seconds * low, seconds * high, samples, ratio, low, high)


def _between(rounds: Sequence[Round], before: str, after: str) -> Levels:
    return _finite([each.difference(before, after) for each in rounds])


def _finite(levels: Levels) -> Levels:
    return [each for each in levels if math.isfinite(each[0])]


def _location(levels: Levels) -> Location:
    kept, noise = np.array(levels, dtype=float).T
    return locate(kept, noise)
