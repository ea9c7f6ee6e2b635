"""Top-p sampling: operands, and what a drawn column may be."""

from collections.abc import Mapping

import numpy as np

from deepbench_ops.backends.families.operands import (
    COMPUTED,
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
"""Of the scores that the probabilities are made of."""

SLACK = 1e-4
"""Error allowed of a sum of probabilities in float32, in the order in which a framework adds."""


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
    """Return the reference: likelier columns hold less than p together, anything from 0 to p."""

    def allowed(index: Index) -> Bounded:
        half = np.full(len(index[0]), problem.p / 2)
        return Bounded(half, half + SLACK, COMPUTED)

    return {"": EntryReference((problem.batch,), allowed, COMPUTED)}


def likelier(probabilities: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return how much the columns hold that are likelier than the drawn one, for each row.

    Not-a-number where a row has no such column.
    """
    columns = np.asarray(columns, np.int64).reshape(-1)
    valid = (columns >= 0) & (columns < probabilities.shape[1])
    wide = np.asarray(probabilities, np.float64)
    own = wide[np.arange(len(wide)), np.where(valid, columns, 0)]
    share = np.where(wide > own[:, None], wide, 0.0).sum(axis=1)
    return np.where(valid, share, np.nan)
