"""Noise: the spread of processes that measured the same kernel."""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from deepbench_ops.statistics.spread import mad_from_zero


def noise(groups: Iterable[Sequence[float]]) -> float:
    """Return the standard deviation of the logs of seconds within groups, NaN where none has two.

    Each group holds the seconds of several processes for one point. The deviations from the
    groups' means are taken together, and their median, which a few disturbed processes do not move.
    """
    offs = []
    for seconds in groups:
        if len(seconds) > 1:
            logs = [math.log(each) for each in seconds]
            mean = sum(logs) / len(logs)
            lost = math.sqrt(len(logs) / (len(logs) - 1))  # for the degree of freedom of the mean
            offs += [(log - mean) * lost for log in logs]
    return mad_from_zero(np.array(offs))
