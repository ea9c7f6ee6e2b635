"""Verdict on two releases: slower, faster, same or ambiguous, with a ratio and its interval.

The round is the unit of noise, not the call: calls of one process share its memory layout and its
threads, so a thousand of them say little more than ten. Each round, a fresh process, counts by the
median of its logarithms. The interval of 99 % follows from the distances between rounds and the
probability that each of them is ruined (`statistics.ruined_rounds`). For many kernels at once
`corrected` limits the share of false findings (Benjamini and Hochberg 1995).
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from deepbench_ops.statistics.confidence import CONFIDENCE
from deepbench_ops.statistics.ruined_rounds import FEWEST, Location, locate, tails
from deepbench_ops.statistics.spread import median_variance

Kind = Literal["slower", "faster", "same", "ambiguous"]

FEWEST_ROUNDS = FEWEST
"""Below this many rounds (of each side, where they were measured apart) nothing is claimed."""

SMALLEST = 0.005
"""A difference of less than half a percent is not called one, however certain."""

SAME_WITHIN = 0.05
"""*same* says that a change of this size would have been seen; otherwise it is ambiguous."""

NEGLIGIBLE = 0.02
"""No more rounds are asked for where the ratio surely lies within so much of 1."""

POWER = 0.95
"""Probability with which a change of the size called detectable is found."""

FURTHEST = 700.0
"""Logarithm at which ratios end, since no number holds a larger one."""


@dataclass(frozen=True)
class Verdict:
    """The ratio after / before in seconds, with its uncertainty: above 1 is slower.

    ratio, with the interval low to high of 99 %; NaN without usable rounds. detectable: the
    smallest relative change that would have been found 95 times in 100 (0.03 is 3 %), infinite
    where nothing would. probability: of a ratio as far from 1 by noise alone; below 1 % where the
    interval leaves out 1. rounds: usable ones, ruined ones among them, of the side that has fewer.
    """

    kind: Kind
    ratio: float
    low: float
    high: float
    detectable: float
    probability: float
    rounds: int


NOTHING_KNOWN = Verdict("ambiguous", math.nan, math.nan, math.nan, math.inf, 1.0, 0)


def compare_samples(
    before: Iterable[Iterable[float]], after: Iterable[Iterable[float]], share: float = 1.0
) -> Verdict:
    """Compare two releases measured apart; each is a list of rounds, each a list of seconds.

    Seconds that are not positive and finite are left out, and with them rounds that have none
    left. Sides may have different numbers of rounds. With fewer than three rounds on a side the
    answer is ambiguous. `share` is that of the look, where there are several (see
    `statistics.stopping_rule`).
    """
    first, second = (_usable([_logs(seconds) for seconds in rounds]) for rounds in (before, after))
    count = min(len(first), len(second))
    if not count:
        return NOTHING_KNOWN
    (verdict,) = _judged(_location(second).minus(_location(first)), count, share)
    return verdict


def compare_pairs(rounds: Iterable[Iterable[tuple[float, float]]], share: float = 1.0) -> Verdict:
    """Compare two releases measured side by side: rounds of pairs (before, after) of seconds.

    Pairs in which either is not positive and finite are left out. With fewer than three rounds
    the answer is ambiguous. `share` is that of the look, where there are several (see
    `statistics.stopping_rule`).
    """
    usable = _usable([_log_ratios(pairs) for pairs in rounds])
    if not usable:
        return NOTHING_KNOWN
    (verdict,) = _judged(_location(usable), len(usable), share)
    return verdict


def compare_levels(levels: Iterable[tuple[float, float]], share: float = 1.0) -> Verdict:
    """Compare two releases by the level of each round, and the variance that its samples leave it.

    A level is the logarithm of after / before; those that are not finite are left out. With fewer
    than three rounds the answer is ambiguous. `share` is that of the look, where there are several
    (see `statistics.stopping_rule`).
    """
    return compare_each([levels], share)[0]


def compare_each(
    several: Iterable[Iterable[tuple[float, float]]], share: float = 1.0
) -> list[Verdict]:
    """Return the answer of `compare_levels` for each of several lists of levels.

    Those of the same length are judged together, in a fraction of the time.
    """
    usable = [[each for each in levels if math.isfinite(each[0])] for levels in several]
    alike: dict[int, list[int]] = defaultdict(list)
    for place, levels in enumerate(usable):
        alike[len(levels)].append(place)
    found = [NOTHING_KNOWN] * len(usable)
    for rounds, places in alike.items():
        if rounds:
            kept, noise = np.moveaxis(np.array([usable[at] for at in places], dtype=float), 2, 0)
            for at, verdict in zip(
                places, _judged(locate(kept, noise), rounds, share), strict=True
            ):
                found[at] = verdict
    return found


def settled(verdict: Verdict) -> bool:
    """Whether no more rounds are needed: it claims a change, or leaves no room for one."""
    within = verdict.low >= 1 / (1 + NEGLIGIBLE) and verdict.high <= 1 + NEGLIGIBLE
    return verdict.kind in ("slower", "faster") or within


def corrected(verdicts: Sequence[Verdict], rate: float = 0.05) -> list[Verdict]:
    """Return the verdicts on many kernels, with at most that share of false findings.

    A finding that does not stand becomes *same* or *ambiguous*; its figures stay.
    """
    asked = [i for i, verdict in enumerate(verdicts) if verdict.rounds >= FEWEST_ROUNDS]
    if not asked:
        return list(verdicts)
    adjusted = _adjusted(np.array([verdicts[i].probability for i in asked]))
    weak = {i for i, probability in zip(asked, adjusted, strict=True) if probability > rate}
    return [
        replace(verdict, kind=_undecided(verdict.low, verdict.high))
        if i in weak and verdict.kind in ("slower", "faster")
        else verdict
        for i, verdict in enumerate(verdicts)
    ]


def _adjusted(probabilities: np.ndarray) -> np.ndarray:
    """Return probabilities adjusted for their number, after Benjamini and Hochberg (1995).

    As `scipy.stats.false_discovery_control` returns them, whose import takes longer than all else.
    """
    order = np.argsort(probabilities)
    scaled = probabilities[order] * len(order) / np.arange(1, len(order) + 1)
    found = np.empty(len(order))
    found[order] = np.minimum.accumulate(scaled[::-1])[::-1]
    return np.minimum(found, 1.0)


def _judged(differences: Location, rounds: int, share: float) -> list[Verdict]:
    """Return the verdicts on differences of logarithms, a trial each."""
    if rounds < FEWEST_ROUNDS:
        return [
            replace(NOTHING_KNOWN, ratio=_ratio(log), rounds=rounds)
            for log in np.atleast_1d(differences.median).tolist()
        ]
    asked = (0.5, *tails(share * (1 - CONFIDENCE)), POWER, 1 - POWER)
    quantiles = np.atleast_2d(differences.quantile(asked).T)
    probabilities = np.atleast_1d(differences.probability(0.0))
    return [
        _verdict(*each, rounds, share)
        for each in zip(quantiles.tolist(), probabilities.tolist(), strict=True)
    ]


def _verdict(quantiles: Sequence[float], probability: float, rounds: int, share: float) -> Verdict:
    """Return the verdict on a difference of logarithms by its quantiles: the middle, the ends of
    its interval, and those of its power."""
    middle, below, above, *others = quantiles
    error = 1 - CONFIDENCE
    low, ratio, high = (_ratio(log) for log in (below, middle, above))
    reach = max(above - middle, middle - below) + max(abs(one - middle) for one in others)
    probability = min(1.0, probability / share)
    if probability < error and abs(ratio - 1) >= SMALLEST:
        kind: Kind = "slower" if ratio > 1 else "faster"
    else:
        kind = _undecided(low, high)
    detectable = max(_ratio(reach) - 1, SMALLEST)
    return Verdict(kind, ratio, low, high, detectable, probability, rounds)


def _ratio(log: float) -> float:
    return math.exp(max(-FURTHEST, min(log, FURTHEST)))


def _undecided(low: float, high: float) -> Kind:
    within = low >= 1 / (1 + SAME_WITHIN) and high <= 1 + SAME_WITHIN
    return "same" if within else "ambiguous"


def _usable(rounds: Iterable[np.ndarray]) -> list[np.ndarray]:
    return [logs for logs in rounds if len(logs)]


def _location(rounds: Sequence[np.ndarray]) -> Location:
    medians = np.array([np.median(logs) for logs in rounds])
    return locate(medians, np.array([median_variance(logs) for logs in rounds]))


def _logs(seconds: Iterable[float]) -> np.ndarray:
    values = np.asarray(list(seconds), dtype=float)
    return np.log(values[np.isfinite(values) & (values > 0)])


def _log_ratios(pairs: Iterable[tuple[float, float]]) -> np.ndarray:
    values = np.asarray(list(pairs), dtype=float).reshape(-1, 2)
    usable = np.isfinite(values).all(axis=1) & (values > 0).all(axis=1)
    return np.log(values[usable, 1]) - np.log(values[usable, 0])
