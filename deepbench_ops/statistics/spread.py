"""Robust spread of samples: a standard deviation that a few outliers do not move."""

import math

import numpy as np
from numpy.typing import ArrayLike

NORMAL = 1.4826
"""Standard deviation of normal samples, in median absolute deviations."""


def medians(values: np.ndarray) -> np.ndarray:
    """Return the medians along the last axis, which stays with length 1; NaN where a value is NaN,
    and of no values.

    For some twenty values it takes a fifth of the time of np.median, which also imports numpy.ma
    in each process that calls it.
    """
    ordered = np.sort(values, axis=-1)  # NaN comes last
    middle = _middle(ordered)[..., None]
    return np.where(np.isnan(ordered[..., -1:]), np.nan, middle) if ordered.shape[-1] else middle


def _middle(ordered: np.ndarray) -> np.ndarray:
    """Return the middle of sorted values along the last axis, NaN of no values."""
    half, odd = divmod(ordered.shape[-1], 2)
    if not ordered.shape[-1]:
        return np.full(ordered.shape[:-1], np.nan)
    high = ordered[..., half]
    return high if odd else (ordered[..., half - 1] + high) / 2


def finite_medians(values: np.ndarray) -> np.ndarray:
    """Return the medians along the last axis, which stays with length 1, of values without NaN."""
    return _middle(np.sort(values, axis=-1))[..., None]


def fast_median(values: np.ndarray) -> float:
    """Return the median of a series without NaN, NaN of no values.

    For a dozen numbers it takes a tenth of the time of np.median.
    """
    ordered = values.copy()
    ordered.sort()
    half, odd = divmod(len(ordered), 2)
    if not len(ordered):
        return math.nan
    high = ordered.item(half)
    return high if odd else (ordered.item(half - 1) + high) / 2


def mad_from_zero(off: np.ndarray) -> float:
    """Return the scaled median absolute deviation from 0 of a series, NaN of none.

    It is `scaled_mad` around 0 of one series, and for a dozen numbers four times as fast.
    """
    return NORMAL * fast_median(np.abs(off))


def scaled_mad(samples: ArrayLike, centre: float | None = None) -> np.ndarray:
    """Return the scaled median absolute deviation of the samples in the last axis, NaN of none.

    centre: the value that deviations are taken from, the samples' median unless given.
    """
    values = np.asarray(samples, dtype=float)
    middle = medians(values) if centre is None else centre
    return medians(abs(values - middle))[..., 0] * NORMAL


def median_variance(samples: ArrayLike) -> float:
    """Return the variance of the median of a series of normal samples without NaN: pi/2 times that
    of their mean.

    0 for fewer than two samples.
    """
    values = np.asarray(samples, dtype=float)
    if len(values) < 2:
        return 0.0
    return math.pi / 2 * mad_from_zero(values - fast_median(values)) ** 2 / len(values)
