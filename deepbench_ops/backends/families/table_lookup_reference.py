"""References of sums of table rows, and of a table's gradient, for look-ups by row number."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deepbench_ops.backends.families.operands import COMPUTE_PRECISION
from deepbench_ops.backends.families.propagated_errors import Bounded, exact
from deepbench_ops.backends.kernel import Index
from deepbench_ops.backends.tolerance import allowed


@dataclass(frozen=True)
class ScatteredSums:
    """Reference of a table whose row r is the sum of all looked-up values with the row number r.

    shape: that of the table. rows: row number of each look-up. values: function from numbers of
    look-ups to their values, one row each. A row that is never looked up is zero.
    """

    shape: tuple[int, int]
    rows: np.ndarray
    values: Callable[[np.ndarray], np.ndarray]
    precision: str

    def everywhere(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed) of the whole table."""
        index = tuple(axis.reshape(-1) for axis in np.indices(self.shape))
        expected, most = self.at(index)
        return expected.reshape(self.shape), most.reshape(self.shape)

    def at(self, index: Index) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed) at some entries."""
        order, starts, ends = self._places(index[0])
        totals, errors = np.zeros((2, len(index[0])))
        for number, (start, end, column) in enumerate(zip(starts, ends, index[1], strict=True)):
            terms = np.asarray(self.values(order[start:end])[:, column], np.float64)
            wander, totals[number] = np.sqrt((terms**2).sum()), terms.sum()
            stored = np.abs(totals[number])
            errors[number] = allowed(self.precision, len(terms), wander, stored)
        return totals, errors

    def _places(self, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        order = self._order
        ordered = self.rows[order]
        return (
            order,
            np.searchsorted(ordered, wanted, "left"),
            np.searchsorted(ordered, wanted, "right"),
        )

    @cached_property
    def _order(self) -> np.ndarray:
        return np.argsort(self.rows, kind="stable")


def gathered_sums(table: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> Bounded:
    """Return, for each entry, the sum of table[row, column] over its rows.

    rows: (entries, terms). columns: (entries,).
    """
    terms = exact(table[rows, columns[:, None]], COMPUTE_PRECISION)
    total = terms.sum()
    return Bounded(total.value[:, 0], total.error[:, 0], COMPUTE_PRECISION)
