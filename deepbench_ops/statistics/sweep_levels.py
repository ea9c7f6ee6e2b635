"""Level of each release in the sweeps of a round, by median polish.

A row of the table is a sweep, a column is a release, a value the logarithm of a slice's seconds. A
disturbance of a whole sweep belongs to its row; medians in both directions, taken in turns until
they no longer change, leave single disturbed values without weight (median polish: J. W. Tukey,
Exploratory Data Analysis, 1977). `bench/round_levels.py` compares other ways on recorded rounds.

Values may be missing, as where not all releases fit in memory at once and are measured in blocks
that share one of them, the anchor. Rows that have the same columns are a block. Each block has
levels of its own, since blocks are measured one after the other; they are then shifted so that the
columns that they share agree.
"""

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from deepbench_ops.statistics.spread import finite_medians, median_variance

STEPS = 50
"""Most rounds of medians; tables of some twenty rows settle in fewer than ten."""

SETTLED = 1e-9
"""Change of the levels, in the unit of the values, below which they have settled."""


@dataclass(frozen=True)
class SweepLevels:
    """Levels of the columns of a table, and the rest of each value.

    levels: one of each column, NaN for a column without values; only their differences mean
    anything, and only between columns that rows connect. residuals: the values less the level of
    their column in their block, shaped like the table.
    """

    levels: np.ndarray
    residuals: np.ndarray

    def difference(self, before: int, after: int) -> tuple[float, float]:
        """Return the level of one column less that of another, and its variance.

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
        return float(self.levels[after] - self.levels[before]), variance

    @cached_property
    def _complete(self) -> bool:
        """Whether every row has all columns."""
        return bool(self.residuals.size and np.isfinite(self.residuals).all())

    def _path(self, before: int, after: int) -> list[int]:
        """Return the fewest columns that lead from one to the other, each in a row with the next.

        Both ends are in it; empty where no rows connect them.
        """
        if self._complete:
            return [before, after]
        present = np.isfinite(self.residuals)
        if (present[:, before] & present[:, after]).any():
            return [before, after]
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


def fit(table: np.ndarray) -> SweepLevels:
    """Return the levels of the columns of a table of shape (rows, columns); NaN is missing."""
    return fit_each([table])[0]


def fit_each(tables: Iterable[np.ndarray]) -> list[SweepLevels]:
    """Return the levels of several tables, each of shape (rows, columns); NaN is missing.

    Complete tables of the same shape are fitted together, in a fraction of the time.
    """
    several = [np.asarray(table, dtype=float) for table in tables]
    alike: dict[tuple[int, ...], list[int]] = defaultdict(list)
    found: dict[int, SweepLevels] = {}
    for place, table in enumerate(several):
        if table.size and np.isfinite(table).all():  # one block, as nearly all rounds are
            alike[table.shape].append(place)
        else:
            found[place] = _in_blocks(table)
    for places in alike.values():
        together = np.array([several[place] for place in places])
        own = levels(together)
        found |= zip(places, map(SweepLevels, own, together - own[:, None]), strict=True)
    return [found[place] for place in range(len(several))]


def _in_blocks(table: np.ndarray) -> SweepLevels:
    """Return the levels of a table whose rows have values in different columns."""
    present = np.isfinite(table)
    residuals = np.full(table.shape, np.nan)
    blocks, weights = [], []
    for pattern in np.unique(present, axis=0) if table.size else []:
        rows = np.flatnonzero((present == pattern).all(axis=1))
        columns = np.flatnonzero(pattern)
        if not len(columns):
            continue
        own = np.full(table.shape[1], np.nan)
        own[columns] = levels(table[np.ix_(rows, columns)])
        residuals[np.ix_(rows, columns)] = table[np.ix_(rows, columns)] - own[columns]
        blocks.append(own)
        weights.append(len(rows))
    if not blocks:
        return SweepLevels(np.full(table.shape[1], np.nan), residuals)
    return SweepLevels(_joined(np.array(blocks), np.array(weights, dtype=float)), residuals)


def levels(values: np.ndarray) -> np.ndarray:
    """Return the level of each column; only the differences of levels mean anything.

    values: of shape (..., rows, columns), without NaN. Returned: of shape (..., columns), the same
    numbers as for each table alone.
    """
    *trials, rows, columns = np.shape(values)
    rest = np.array(values, dtype=float).reshape(-1, rows, columns)
    found = np.zeros((len(rest), columns))
    moving = np.arange(len(rest))
    for _ in range(STEPS):
        rest -= finite_medians(rest)
        change = np.swapaxes(finite_medians(np.swapaxes(rest, -1, -2)), -1, -2)
        rest -= change
        found[moving] += change[:, 0]
        unsettled = np.max(abs(change), axis=(-2, -1), initial=0.0) >= SETTLED
        if not unsettled.all():
            rest, moving = rest[unsettled], moving[unsettled]
        if not len(moving):
            break
    return found.reshape(*trials, columns)


def _joined(blocks: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return one level of each column from those of several blocks; NaN without values.

    blocks: of shape (blocks, columns), each block with a zero of its own. The zeros are those for
    which shared columns agree best (least squares, each block weighted by its rows).
    """
    if len(blocks) == 1:
        return np.asarray(blocks[0])
    present = np.isfinite(blocks)
    shares = present * weights[:, None]
    shares = shares / np.maximum(shares.sum(axis=0), 1e-300)
    known = np.where(present, blocks, 0.0)
    means = (shares * known).sum(axis=0)
    block, column = np.nonzero(present)
    root = np.sqrt(weights[block])
    unknown = (np.eye(len(blocks))[block] - shares.T[column]) * root[:, None]
    zeros, *_ = np.linalg.lstsq(unknown, (means[column] - known[block, column]) * root, rcond=None)
    joined = means + (shares * zeros[:, None]).sum(axis=0)
    return np.where(present.any(axis=0), joined, np.nan)
