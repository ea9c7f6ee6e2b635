"""Robust spread of samples: a standard deviation that a few outliers do not move."""

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
