"""Confidence intervals of seconds, made of their logarithms: seconds are positive."""

import math
from collections.abc import Iterable
from functools import cache

from deepbench_ops.statistics import student_distribution
from deepbench_ops.statistics.confidence import CONFIDENCE

FEWEST_SAMPLES = 4
"""Fewer give no interval. Of two or three, one in three reaches beyond twice the time, and the
ones that do not are those whose samples agreed by chance; of four, one in twenty."""


def log_interval(
    samples: Iterable[float] | None, confidence: float = CONFIDENCE
) -> tuple[float, float] | None:
    """Return the interval (low, high) of the samples' median, in seconds; None of too few samples.

    Order statistics where there are enough samples, eight for 99 %, and Student's interval about
    the median of the logarithms where there are fewer. Samples that are not positive and finite
    are left out.
    """
    seconds = sorted(each for each in samples or () if 0 < each < math.inf)
    count = len(seconds)
    if count < FEWEST_SAMPLES:
        return None
    rank = _rank(count, confidence)
    if rank:
        return seconds[rank - 1], seconds[-rank]
    logs = [math.log(each) for each in seconds]
    mean = math.fsum(logs) / count
    deviation = math.sqrt(math.fsum((each - mean) ** 2 for each in logs) / (count - 1))
    error = math.sqrt(math.pi / 2 / count) * deviation
    reach = student_distribution.quantile((1 + confidence) / 2, count - 1) * error
    below, above = logs[(count - 1) // 2], logs[count // 2]
    return math.exp((below + above) / 2 - reach), math.exp((below + above) / 2 + reach)


@cache
def _rank(count: int, confidence: float) -> int:
    """Return how far from both ends the order statistics lie that hold the median; 0: too few."""
    rank, outside = 0, 0.0
    while True:
        outside += 2 * math.comb(count, rank) / 2**count
        if outside > 1 - confidence:
            return rank
        rank += 1
