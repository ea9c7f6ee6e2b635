"""Robust spread of samples: a standard deviation that a few outliers do not move."""

import math

import numpy as np
from numpy.typing import ArrayLike

NORMAL = 1.4826
"""Standard deviation of normal samples, in median absolute deviations."""


def scaled_mad(samples: ArrayLike, centre: float | None = None) -> np.ndarray:
    """Return the scaled median absolute deviation of the samples in the last axis.

    centre: the value that deviations are taken from, the samples' median unless given.
    """
    values = np.asarray(samples, dtype=float)
    middle = np.median(values, axis=-1, keepdims=True) if centre is None else centre
    return np.asarray(np.median(abs(values - middle), axis=-1) * NORMAL)


def median_variance(samples: ArrayLike) -> float:
    """Return the variance of the median of normal samples: pi/2 times that of their mean.

    0 for fewer than two samples.
    """
    values = np.asarray(samples, dtype=float)
    if len(values) < 2:
        return 0.0
    return math.pi / 2 * float(scaled_mad(values)) ** 2 / len(values)
