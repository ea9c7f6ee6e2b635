"""How far processes that measured the same thing lie apart."""

import math
from collections.abc import Iterable, Sequence
from statistics import median

MEDIAN_OF_A_NORMAL = 0.6745
"""The median of |x| of a standard normal x."""


def noise(groups: Iterable[Sequence[float]]) -> float:
    """Return the standard deviation of the logs of seconds within groups, NaN where none has two.

    Each group is what several processes found for one point. It is taken from the median of how
    far they are off their group's mean, which a few disturbed processes do not move.
    """
    offs = []
    for seconds in groups:
        if len(seconds) > 1:
            logs = [math.log(each) for each in seconds]
            mean = sum(logs) / len(logs)
            lost = math.sqrt(len(logs) / (len(logs) - 1))  # to the mean, which is theirs
            offs += [abs(log - mean) * lost for log in logs]
    return median(offs) / MEDIAN_OF_A_NORMAL if offs else math.nan
