"""Kullback-Leibler divergence: operands, and the true loss and gradient."""

from collections.abc import Mapping
from functools import partial

import numpy as np

from deepbench_ops.backends.families.cross_entropy import LOSS_GRADIENT, mean_loss
from deepbench_ops.backends.families.operands import (
    COMPUTE_PRECISION,
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
"""Outputs of the backward pass, each with the operand whose gradient it is."""

HALF_WIDTH = 4.0
"""Scores are uniform in [-HALF_WIDTH, HALF_WIDTH); their softmax gives the probabilities."""


def inputs(problem: KlDiv, precision: str, seed: int = 0) -> Operands:
    """Draw predicted log-probabilities and target probabilities: softmax of uniform scores."""
    shape = (problem.tokens, problem.vocabulary)

    def shares(stream: int) -> np.ndarray:
        powers = np.exp(floats(shape, "float32", HALF_WIDTH, seed, stream))
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))

    makers: Makers = {
        "predicted": lambda: np.log(shares(0)),
        "wanted": partial(shares, 1),
        GRADIENT: lambda: np.array(LOSS_GRADIENT, np.float32),
    }
    text = f"softmax of scores in +-{HALF_WIDTH:g}, gradient of the loss {LOSS_GRADIENT}"
    return Operands(makers, drawn(text, seed))


def reference(
    problem: KlDiv, drawn: Operands, precision: str, operation: str
) -> Mapping[str, Reference]:
    """Return the reference of the loss, of shape (1,), or of the gradient of the predicted
    log-probabilities."""

    def losses_of(rows: np.ndarray) -> Bounded:
        return losses(drawn.exactly("predicted", rows), drawn.exactly("wanted", rows))

    def gradient(rows: np.ndarray) -> Bounded:
        return drawn.exactly("wanted", rows) * exact(
            np.array(-LOSS_GRADIENT / problem.tokens), COMPUTE_PRECISION
        )

    shape = (problem.tokens, problem.vocabulary)
    if operation == "backward":
        return {"": RowReference(shape, gradient, precision)}
    return {"": WholeReference((1,), partial(mean_loss, *shape, losses_of))}


def losses(predicted: Bounded, wanted: Bounded) -> Bounded:
    """Return sum(t·log t - t·x) of each row, as a column; t: target, x: predicted.

    Some kernels compute the sums of the two terms separately, which the allowed error covers.
    """
    return (wanted * wanted.log()).sum() - (wanted * predicted).sum()
