"""Kullback-Leibler divergence: operands, and the true loss and gradient."""

from collections.abc import Mapping
from functools import partial

import numpy as np

from deepbench_ops.backends.families.cross_entropy import FACTOR, mean_loss
from deepbench_ops.backends.families.operands import (
    COMPUTED,
    GRADIENT,
    Makers,
    Operands,
    RowReference,
    WholeReference,
    drawn,
)
from deepbench_ops.backends.families.propagated_errors import Bounded, exact
from deepbench_ops.backends.kernel import Reference
from deepbench_ops.problems.kl_div import KlDiv
from deepbench_ops.random_operands import floats

SMALL = {"tokens": 37, "vocabulary": 131}
PROBE = {"tokens": 256, "vocabulary": 1024}

GRADIENTS = {"": "predicted"}
"""Outputs of the backward pass, and the operands that they are the gradients of."""

HALF_WIDTH = 4.0
"""Of the scores that the probabilities are made of."""


def inputs(problem: KlDiv, precision: str, seed: int = 0) -> Operands:
    """Draw scores, uniform in [-4, 4): predicted log-probabilities, and wanted probabilities."""
    shape = (problem.tokens, problem.vocabulary)

    def shares(stream: int) -> np.ndarray:
        powers = np.exp(floats(shape, "float32", HALF_WIDTH, seed, stream))
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))

    makers: Makers = {
        "predicted": lambda: np.log(shares(0)),
        "wanted": partial(shares, 1),
        GRADIENT: lambda: np.array(FACTOR, np.float32),
    }
    text = f"softmax of scores in +-{HALF_WIDTH:g}, gradient of the loss {FACTOR}"
    return Operands(makers, drawn(text, seed))


def reference(
    problem: KlDiv, drawn: Operands, precision: str, operation: str
) -> Mapping[str, Reference]:
    """Return the reference of the loss, of shape (1,), or of the gradient of the predicted."""

    def losses_of(rows: np.ndarray) -> Bounded:
        return losses(drawn.exactly("predicted", rows), drawn.exactly("wanted", rows))

    def gradient(rows: np.ndarray) -> Bounded:
        return drawn.exactly("wanted", rows) * exact(np.array(-FACTOR / problem.tokens), COMPUTED)

    shape = (problem.tokens, problem.vocabulary)
    if operation == "backward":
        return {"": RowReference(shape, gradient, precision)}
    return {"": WholeReference((1,), partial(mean_loss, *shape, losses_of))}


def losses(predicted: Bounded, wanted: Bounded) -> Bounded:
    """Return sum(t·log t - t·x) of each row, as a column; some kernels add up both alone."""
    return (wanted * wanted.log()).sum() - (wanted * predicted).sum()
