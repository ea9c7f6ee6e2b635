"""Top-k: operands, and the largest numbers of each row as the reference of values and columns."""

from collections.abc import Mapping
from functools import partial

import numpy as np

from deepbench_ops.backends.families.operands import (
    COMPUTE_PRECISION,
    Makers,
    Operands,
    RowReference,
    drawn,
)
from deepbench_ops.backends.families.propagated_errors import Bounded, exact
from deepbench_ops.backends.kernel import Reference
from deepbench_ops.problems.topk import TopK
from deepbench_ops.random_operands import floats

SMALL = {"batch": 37, "columns": 131, "k": 9}
PROBE = {"batch": 64, "columns": 1024, "k": 8}


def inputs(problem: TopK, precision: str, seed: int = 0) -> Operands:
    """Draw x, uniform in [-8, 8); in 16 bits a long row has many equal numbers."""
    shape = (problem.batch, problem.columns)
    makers: Makers = {"x": partial(floats, shape, precision, 8.0, seed, 0)}
    return Operands(makers, drawn("x in +-8", seed))


def reference(
    problem: TopK, drawn: Operands, precision: str, operation: str
) -> Mapping[str, Reference]:
    """Return the reference of the values, which are exact."""

    def largest(rows: np.ndarray) -> Bounded:
        x = np.asarray(drawn["x"][rows], np.float64)
        return exact(-np.sort(-x, axis=1)[:, : problem.k], COMPUTE_PRECISION)

    return {"": RowReference((problem.batch, problem.k), largest, None)}


def checked_values(x: np.ndarray, values: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the values, float64, with NaN where the column is wrong.

    x: (rows, columns). values, columns: (rows, k), the output of a kernel.
    A correct column exists in x, has the value there, and appears only once in its row.
    """
    columns = np.asarray(columns, np.int64)
    valid = (columns >= 0) & (columns < x.shape[1])
    held = np.take_along_axis(x, np.where(valid, columns, 0), axis=1)
    repeated = np.zeros_like(valid)
    order = np.argsort(columns, axis=1, kind="stable")
    ordered = np.take_along_axis(columns, order, axis=1)
    again = np.zeros_like(valid)
    again[:, 1:] = ordered[:, 1:] == ordered[:, :-1]
    np.put_along_axis(repeated, order, again, axis=1)
    right = valid & ~repeated & (held == values)
    return np.where(right, np.asarray(values, np.float64), np.nan)
