"""Embedding: operands, and the true rows and gradient of the table."""

from collections.abc import Mapping
from functools import partial

from deepbench_ops.backends.families.operands import (
    GRADIENT,
    EntryReference,
    Makers,
    Operands,
    drawn,
    integers,
)
from deepbench_ops.backends.families.propagated_errors import Bounded
from deepbench_ops.backends.families.table_lookup_reference import ScatteredSums
from deepbench_ops.backends.kernel import Index, Reference
from deepbench_ops.problems.embedding import Embedding
from deepbench_ops.random_operands import floats

SMALL = {"tokens": 3109, "vocabulary": 1031, "size": 19}
"""Largest sizes of a small twin. It has three times as many tokens as rows, so most rows are looked
up several times, and enough tokens for the gradient that torch computes on a GPU for long lists:
that of up to 3,072 tokens rounds sums to 16 bits."""

PROBE = {"tokens": 512, "vocabulary": 1024, "size": 128}

GRADIENTS = {"": "table"}
"""Outputs of the backward pass, each with the operand whose gradient it is."""


def inputs(problem: Embedding, precision: str, seed: int = 0) -> Operands:
    """Draw the table, the tokens (all rows equally likely) and the gradient of the output."""
    shape = (problem.vocabulary, problem.size)
    makers: Makers = {
        "table": partial(floats, shape, precision, 1.0, seed, 0),
        "tokens": partial(integers, (problem.tokens,), problem.vocabulary, seed, 1),
        GRADIENT: partial(floats, (problem.tokens, problem.size), precision, 1.0, seed, 2),
    }
    return Operands(makers, drawn("table and gradient in +-1, any row as token", seed))


def reference(
    problem: Embedding, drawn: Operands, precision: str, operation: str
) -> Mapping[str, Reference]:
    """Return the reference of the looked-up rows, or of the gradient of the table."""
    if operation == "backward":
        shape = (problem.vocabulary, problem.size)
        arriving = drawn[GRADIENT]
        return {"": ScatteredSums(shape, drawn["tokens"], arriving.__getitem__, precision)}

    def rows(index: Index) -> Bounded:
        return drawn.exactly("table", (drawn["tokens"][index[0]], index[1]))

    return {"": EntryReference((problem.tokens, problem.size), rows, None)}
