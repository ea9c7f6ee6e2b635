"""Top-p sampling: operands, and the reference of a drawn column."""

from collections.abc import Mapping

import numpy as np

from deepbench_ops.backends.families.operands import (
    COMPUTE_PRECISION,
    EntryReference,
    Makers,
    Operands,
    drawn,
)
from deepbench_ops.backends.families.propagated_errors import Bounded
from deepbench_ops.backends.kernel import Index, Reference
from deepbench_ops.problems.sampling import Sampling
from deepbench_ops.random_operands import floats

SMALL = {"batch": 64, "columns": 131}
PROBE = {"batch": 4, "columns": 4096}

HALF_WIDTH = 6.0
"""Scores are uniform in [-HALF_WIDTH, HALF_WIDTH); their softmax gives the probabilities."""

SLACK = 1e-4
"""Allowed error of a sum of probabilities in float32, in any order of addition."""


def inputs(problem: Sampling, precision: str, seed: int = 0) -> Operands:
    """Draw probabilities: softmax of scores uniform in [-6, 6)."""

    def shares() -> np.ndarray:
        powers = np.exp(floats((problem.batch, problem.columns), "float32", HALF_WIDTH, seed, 0))
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))

    makers: Makers = {"probabilities": shares}
    return Operands(makers, drawn(f"softmax of scores in +-{HALF_WIDTH:g}", seed))


def reference(
    problem: Sampling, drawn: Operands, precision: str, operation: str
) -> Mapping[str, Reference]:
    """Return the reference of `likelier`: the columns that are likelier than the drawn one have a
    total probability from 0 to p."""

    def allowed(index: Index) -> Bounded:
        half = np.full(len(index[0]), problem.p / 2)
        return Bounded(half, half + SLACK, COMPUTE_PRECISION)

    return {"": EntryReference((problem.batch,), allowed, COMPUTE_PRECISION)}


def likelier(probabilities: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return, for each row, the total probability of the columns likelier than the drawn one.

    columns: the drawn column of each row. NaN for a row without a column of that number.
    """
    columns = np.asarray(columns, np.int64).reshape(-1)
    valid = (columns >= 0) & (columns < probabilities.shape[1])
    wide = np.asarray(probabilities, np.float64)
    own = wide[np.arange(len(wide)), np.where(valid, columns, 0)]
    share = np.where(wide > own[:, None], wide, 0.0).sum(axis=1)
    return np.where(valid, share, np.nan)
