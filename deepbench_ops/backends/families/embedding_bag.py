"""Embedding bags: operands, and the true sums and gradient of the table."""

from collections.abc import Mapping
from functools import partial

import numpy as np

from deepbench_ops.backends.families.operands import (
    GRADIENT,
    EntryReference,
    Makers,
    Operands,
    drawn,
    integers,
)
from deepbench_ops.backends.families.propagated_errors import Bounded
from deepbench_ops.backends.families.table_lookup_reference import ScatteredSums, gathered_sums
from deepbench_ops.backends.kernel import Index, Reference
from deepbench_ops.problems.embedding_bag import EmbeddingBag
from deepbench_ops.random_operands import floats

SMALL = {"bags": 31, "pooling": 5, "table": 29, "size": 19}
"""Largest sizes of a small twin. It has more look-ups than rows, so some bags have a row twice."""

PROBE = {"bags": 256, "pooling": 10, "table": 1024, "size": 128}

GRADIENTS = {"": "rows"}
"""Outputs of the backward pass, each with the operand whose gradient it is."""


def inputs(problem: EmbeddingBag, precision: str, seed: int = 0) -> Operands:
    """Draw the rows of the table, the bags (all rows equally likely) and the output's gradient."""
    p = problem
    makers: Makers = {
        "rows": partial(floats, (p.table, p.size), precision, 1.0, seed, 0),
        "bags": partial(integers, (p.bags, p.pooling), p.table, seed, 1),
        GRADIENT: partial(floats, (p.bags, p.size), precision, 1.0, seed, 2),
    }
    return Operands(makers, drawn("table and gradient in +-1, any rows in a bag", seed))


def reference(
    problem: EmbeddingBag, drawn: Operands, precision: str, operation: str
) -> Mapping[str, Reference]:
    """Return the reference of the sums of bags, or of the gradient of the table."""
    if operation == "backward":
        arriving, pooling = drawn[GRADIENT], problem.pooling

        def values(looked_up: np.ndarray) -> np.ndarray:
            return np.asarray(arriving[looked_up // pooling])

        shape = (problem.table, problem.size)
        return {"": ScatteredSums(shape, drawn["bags"].reshape(-1), values, precision)}

    def sums(index: Index) -> Bounded:
        return gathered_sums(drawn["rows"], drawn["bags"][index[0]], index[1])

    return {"": EntryReference((problem.bags, problem.size), sums, precision)}
