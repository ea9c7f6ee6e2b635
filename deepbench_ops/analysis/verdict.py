"""Is one release slower than another? The round is the unit of noise, not the call.

Calls of one process share its memory layout and its threads, so a thousand of them say little
more than ten. What counts is how far rounds, that is fresh processes, lie apart: Student's test
over the rounds' log medians (Welch's where the sides were measured apart), with its interval of
99 %. Where many kernels are asked about at once, `corrected` keeps the share of false findings
down by the procedure of Benjamini and Hochberg (1995).
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.special import ndtri, stdtr, stdtrit

Kind = Literal["slower", "faster", "same", "ambiguous"]

CONFIDENCE = 0.99
FEWEST_ROUNDS = 3
"""Below this many rounds (of each side, where they were measured apart) nothing is claimed: two
may lie close together by chance, and would then make any difference look certain."""

SMALLEST = 0.005
"""A difference of less than half a percent is not called one, however certain."""

SAME_WITHIN = 0.05
"""*same* says that a change of this size would have been seen; otherwise it is ambiguous."""

POWER = 0.95
"""How often a change of the size called detectable would be found."""


@dataclass(frozen=True)
class Verdict:
    """What is known about after / before, in seconds: above 1 is slower.

    ratio, with the interval low to high of 99 %; NaN without usable rounds. detectable: the
    smallest relative change that would have been found 95 times in 100 (0.03 is 3 %), infinite
    where nothing would. probability: of a ratio as far from 1 by noise alone. rounds: usable
    ones, of the side that has fewer.
    """

    kind: Kind
    ratio: float
    low: float
    high: float
    detectable: float
    probability: float
    rounds: int


NOTHING_KNOWN = Verdict("ambiguous", math.nan, math.nan, math.nan, math.inf, 1.0, 0)


@dataclass(frozen=True)
class _Rounds:
    """Rounds of one side, or of pairs: mean of the log medians, and what is known of its error."""

    mean: float
    error: float
    freedom: float
    count: int


def compare_samples(before: Iterable[Iterable[float]], after: Iterable[Iterable[float]]) -> Verdict:
    """Compare two releases measured apart; each is a list of rounds, each a list of seconds.

    Seconds that are not positive and finite are left out, and with them rounds that have none
    left. Sides may have different numbers of rounds. With fewer than three rounds on a side the
    answer is ambiguous.
    """
    sides = [_rounds([_logs(seconds) for seconds in rounds]) for rounds in (before, after)]
    if any(side is None for side in sides):
        return NOTHING_KNOWN
    first, second = (side for side in sides if side is not None)
    error = math.hypot(first.error, second.error)
    return _judged(
        second.mean - first.mean,
        error,
        _welch(first, second, error),
        min(first.count, second.count),
    )


def compare_pairs(rounds: Iterable[Iterable[tuple[float, float]]]) -> Verdict:
    """Compare two releases measured side by side: rounds of pairs (before, after) of seconds.

    Pairs in which either is not positive and finite are left out. With fewer than three rounds
    the answer is ambiguous.
    """
    found = _rounds([_log_ratios(pairs) for pairs in rounds])
    if found is None:
        return NOTHING_KNOWN
    return _judged(found.mean, found.error, found.freedom, found.count)


def corrected(verdicts: Sequence[Verdict], rate: float = 0.05) -> list[Verdict]:
    """Return the verdicts on many kernels, of which at most that share of findings is false.

    A finding that does not stand becomes *same* or *ambiguous*; its figures stay.
    """
    asked = [i for i, verdict in enumerate(verdicts) if verdict.rounds >= FEWEST_ROUNDS]
    if not asked:
        return list(verdicts)
    from scipy.stats import false_discovery_control  # a second to import, for those who ask

    adjusted = false_discovery_control([verdicts[i].probability for i in asked])
    weak = {i for i, probability in zip(asked, adjusted, strict=True) if probability > rate}
    return [
        replace(verdict, kind=_undecided(verdict.low, verdict.high))
        if i in weak and verdict.kind in ("slower", "faster")
        else verdict
        for i, verdict in enumerate(verdicts)
    ]


def _judged(difference: float, error: float, freedom: float, rounds: int) -> Verdict:
    """Return the verdict on a difference of logs with its standard error."""
    ratio = math.exp(difference)
    if rounds < FEWEST_ROUNDS:
        return replace(NOTHING_KNOWN, ratio=ratio, rounds=rounds)
    reach = float(stdtrit(freedom, (1 + CONFIDENCE) / 2)) * error
    low, high = math.exp(difference - reach), math.exp(difference + reach)
    detectable = math.expm1(reach + float(stdtrit(freedom, POWER)) * error)
    certain = float(difference == 0)  # rounds that agree to the digit, as coarse clocks give
    probability = 2 * float(stdtr(freedom, -abs(difference) / error)) if error else certain
    if probability < 1 - CONFIDENCE and abs(math.expm1(difference)) >= SMALLEST:
        kind: Kind = "slower" if difference > 0 else "faster"
    else:
        kind = _undecided(low, high)
    return Verdict(kind, ratio, low, high, max(detectable, SMALLEST), probability, rounds)


def _undecided(low: float, high: float) -> Kind:
    within = low >= 1 / (1 + SAME_WITHIN) and high <= 1 + SAME_WITHIN
    return "same" if within else "ambiguous"


def _rounds(rounds: Iterable[np.ndarray]) -> _Rounds | None:
    """Return what the rounds say together; None where none is usable.

    Their error is what they differ by, and never less than what the samples of a round leave
    open: a few medians may agree by chance.
    """
    usable = [logs for logs in rounds if len(logs)]
    if not usable:
        return None
    medians = np.array([np.median(logs) for logs in usable])
    between = float(np.var(medians, ddof=1)) if len(medians) > 1 else math.nan
    inside = float(np.mean([_median_variance(logs) for logs in usable]))
    return _Rounds(
        mean=float(medians.mean()),
        error=math.sqrt(np.fmax(between, inside) / len(medians)),
        freedom=max(len(medians) - 1, 1),
        count=len(medians),
    )


def _median_variance(logs: np.ndarray) -> float:
    """Return the variance of the median of normal samples: pi/2 times that of their mean."""
    if len(logs) < 2:
        return 0.0
    deviation = float(np.median(abs(logs - np.median(logs))) / ndtri(0.75))
    return math.pi / 2 * deviation**2 / len(logs)


def _welch(first: _Rounds, second: _Rounds, error: float) -> float:
    """Return the degrees of freedom of a difference (Welch and Satterthwaite)."""
    if error == 0:
        return first.freedom + second.freedom
    parts = first.error**4 / first.freedom + second.error**4 / second.freedom
    return error**4 / parts


def _logs(seconds: Iterable[float]) -> np.ndarray:
    values = np.asarray(list(seconds), dtype=float)
    return np.log(values[np.isfinite(values) & (values > 0)])


def _log_ratios(pairs: Iterable[tuple[float, float]]) -> np.ndarray:
    values = np.asarray(list(pairs), dtype=float).reshape(-1, 2)
    usable = np.isfinite(values).all(axis=1) & (values > 0).all(axis=1)
    return np.log(values[usable, 1]) - np.log(values[usable, 0])
