"""Two-way tables: what each column adds to the values, when rows disturb all columns alike.

A row is a sweep over releases, a column is a release, a value the logarithm of its seconds. A
disturbance of a whole sweep belongs to its row; medians in both directions, taken in turns until
they no longer change, leave single disturbed values without weight (median polish: J. W. Tukey,
Exploratory Data Analysis, 1977).

Values may be missing, as where not all releases fit in memory at once and are measured in blocks
that share one of them, the anchor. Rows that have the same columns are a block. Each block is
polished by itself: medians over all rows would not see the anchor, which is one value among many of
its rows, and would leave blocks apart by as much as their releases differ. Blocks are then placed
so that the columns that they share agree.
"""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from deepbench_ops.statistics.spread import median_variance

STEPS = 50
"""Most rounds of medians; tables of some twenty rows settle in fewer than ten."""

SETTLED = 1e-9
"""Change of the effects, in the unit of the values, below which they have settled."""


@dataclass(frozen=True)
class TwoWay:
    """Effects of the columns of a table, and the residual of each value.

    effects: one of each column, NaN for a column without values; only their differences mean
    anything, and only between columns that rows connect. residuals: shaped like the table.
    """

    effects: np.ndarray
    residuals: np.ndarray

    def difference(self, before: int, after: int) -> tuple[float, float]:
        """Return the effect of one column less that of another, and its variance.

        The variance is that of a median of normal values, from the rows that have both columns;
        where no row has both, it is the sum along the columns that lead from one to the other. NaN
        for a column without values and for columns that no rows connect, 0 where there are too few
        values to tell.
        """
        path = self._path(before, after)
        if not path:
            return math.nan, math.nan
        apart = (self.residuals[:, two] - self.residuals[:, one] for one, two in pairwise(path))
        variance = sum(median_variance(each[np.isfinite(each)]) for each in apart)
        return float(self.effects[after] - self.effects[before]), variance

    def _path(self, before: int, after: int) -> list[int]:
        """Return the fewest columns that lead from one to the other, each in a row with the next.

        Both ends are in it; empty where no rows connect them.
        """
        present = np.isfinite(self.residuals)
        if not present[:, [before, after]].any(axis=0).all():
            return []
        paths = {before: [before]}
        ends = [before]
        while ends and after not in paths:
            met = {
                int(column): [*paths[end], int(column)]
                for end in reversed(ends)
                for column in np.flatnonzero(present[present[:, end]].any(axis=0))
                if column not in paths
            }
            paths |= met
            ends = list(met)
        return paths.get(after, [])


def fit(table: np.ndarray) -> TwoWay:
    """Return the effects of the columns of a table of shape (rows, columns); NaN is missing."""
    table = np.asarray(table, dtype=float)
    residuals = np.full(table.shape, np.nan)
    present = np.isfinite(table)
    effects, weights = [], []
    for pattern in np.unique(present, axis=0) if table.size else []:
        rows = np.flatnonzero((present == pattern).all(axis=1))
        columns = np.flatnonzero(pattern)
        if not len(columns):
            continue
        own = np.full(table.shape[1], np.nan)
        own[columns], residuals[np.ix_(rows, columns)] = polish(table[np.ix_(rows, columns)])
        effects.append(own)
        weights.append(len(rows))
    if not effects:
        return TwoWay(np.full(table.shape[1], np.nan), residuals)
    return TwoWay(_joined(np.array(effects), np.array(weights, dtype=float)), residuals)


def polish(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the effects of the columns of complete tables, and the residuals.

    values: of shape (..., rows, columns), a table in the last two axes. effects: of shape
    (..., columns).
    """
    residuals = np.array(values, dtype=float)
    effects = np.zeros((*residuals.shape[:-2], residuals.shape[-1]))
    for _ in range(STEPS):
        residuals -= _medians(residuals)
        change = np.swapaxes(_medians(np.swapaxes(residuals, -1, -2)), -1, -2)
        residuals -= change
        effects += change[..., 0, :]
        if np.max(abs(change), initial=0.0) < SETTLED:
            break
    return effects, residuals


def _medians(values: np.ndarray) -> np.ndarray:
    """Return the medians along the last axis, which stays, as np.median does in five times the time
    for tables of some twenty rows. Values are finite."""
    ordered = np.sort(values, axis=-1)
    half, odd = divmod(values.shape[-1], 2)
    high = ordered[..., half, None]
    return high if odd else (ordered[..., half - 1, None] + high) / 2


def _joined(effects: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return one effect of each column from those of several blocks; NaN without values.

    effects: of shape (blocks, columns), each block with a zero of its own. The zeros are those for
    which shared columns agree best (least squares, each block weighted by its rows).
    """
    if len(effects) == 1:
        return np.asarray(effects[0])
    present = np.isfinite(effects)
    shares = present * weights[:, None]
    shares = shares / np.maximum(shares.sum(axis=0), 1e-300)
    known = np.where(present, effects, 0.0)
    means = (shares * known).sum(axis=0)
    block, column = np.nonzero(present)
    root = np.sqrt(weights[block])
    unknown = (np.eye(len(effects))[block] - shares.T[column]) * root[:, None]
    zeros, *_ = np.linalg.lstsq(unknown, (means[column] - known[block, column]) * root, rcond=None)
    joined = means + (shares * zeros[:, None]).sum(axis=0)
    return np.where(present.any(axis=0), joined, np.nan)
