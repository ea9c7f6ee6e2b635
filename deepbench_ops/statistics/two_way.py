"""Two-way tables: what each column adds to the values, when rows disturb all columns alike.

A row is a sweep over releases, a column is a release, a value the logarithm of its seconds. What
the machine does to a whole sweep is the row's; medians in both directions, taken in turns until
they no longer change, leave single disturbed values without weight (median polish: J. W. Tukey,
Exploratory Data Analysis, 1977). Values may be missing, as where not all releases fit in memory at
once and rows of different blocks share some of their columns.
"""

import math
import warnings
from dataclasses import dataclass

import numpy as np

from deepbench_ops.statistics.spread import median_variance

STEPS = 50
"""Most rounds of medians; tables of some twenty rows settle in fewer than ten."""

SETTLED = 1e-9
"""Change of the effects, in the unit of the values, below which they have settled."""


@dataclass(frozen=True)
class TwoWay:
    """Effects of the columns of a table, and what the model leaves of each value.

    effects: one of each column, NaN for a column without values; only their differences mean
    anything, and only between columns that rows connect. residuals: shaped like the table.
    """

    effects: np.ndarray
    residuals: np.ndarray

    def difference(self, before: int, after: int) -> tuple[float, float]:
        """Return the effect of one column less that of another, and its variance.

        The variance is that of a median of normal values, from the rows that have both columns;
        where fewer than two have, it is the sum of those of the two effects. NaN for a column
        without values and for columns that no rows connect, 0 where there are too few values to
        tell.
        """
        difference = float(self.effects[after] - self.effects[before])
        if not math.isfinite(difference) or not self._connected(before, after):
            return math.nan, math.nan
        apart = _finite(self.residuals[:, after] - self.residuals[:, before])
        if len(apart) > 1:
            return difference, median_variance(apart)
        return difference, self._variance(before) + self._variance(after)

    def _connected(self, before: int, after: int) -> bool:
        """Whether rows lead from one column to the other, through further columns if need be."""
        present = np.isfinite(self.residuals)
        reached = np.zeros(present.shape[1], dtype=bool)
        reached[before] = True
        while True:
            wider = present[present[:, reached].any(axis=1)].any(axis=0) | reached
            if wider[after] or (wider == reached).all():
                return bool(wider[after])
            reached = wider

    def _variance(self, column: int) -> float:
        """Return the variance of an effect, but for the part that rows take from residuals."""
        present = np.isfinite(self.residuals)
        values = self.residuals[present[:, column], column]
        wide = present[present[:, column]].sum(axis=1).mean() if len(values) else 1.0
        return median_variance(values) * wide / (wide - 1) if wide > 1 else 0.0


def _finite(values: np.ndarray) -> np.ndarray:
    return values[np.isfinite(values)]


def fit(table: np.ndarray) -> TwoWay:
    """Return the effects of the columns of a table of shape (rows, columns); NaN is missing."""
    residuals = np.array(table, dtype=float)
    effects = np.where(np.isfinite(residuals).any(axis=0), 0.0, np.nan)
    for _ in range(STEPS):
        residuals -= _medians(residuals, axis=1)
        change = _medians(residuals, axis=0)[0]
        residuals -= change
        effects += change
        if np.nanmax(abs(change), initial=0.0) < SETTLED:
            break
    return TwoWay(effects, residuals)


def _medians(values: np.ndarray, axis: int) -> np.ndarray:
    """Return medians without missing values along an axis, which stays with length 1."""
    if values.size and not np.isnan(values).any():
        return np.asarray(np.median(values, axis=axis, keepdims=True))  # ten times as fast
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a row or column without any value
        return np.asarray(np.nanmedian(values, axis=axis, keepdims=True))
