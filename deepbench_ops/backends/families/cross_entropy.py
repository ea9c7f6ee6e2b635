"""Cross-entropy: operands, and the true loss and gradient."""

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from deepbench_ops.backends.families.operands import (
    COMPUTE_PRECISION,
    GRADIENT,
    MOST_ENTRIES,
    Makers,
    Operands,
    RowReference,
    WholeReference,
    drawn,
    integers,
    row_chunks,
)
from deepbench_ops.backends.families.propagated_errors import Bounded, exact, joined
from deepbench_ops.backends.families.softmax import HALF_WIDTH, probabilities
from deepbench_ops.backends.kernel import Reference
from deepbench_ops.problems.cross_entropy import CrossEntropy
from deepbench_ops.random_operands import floats

SMALL = {"tokens": 37, "vocabulary": 131}
PROBE = {"tokens": 256, "vocabulary": 1024}

GRADIENTS = {"": "logits"}
"""Outputs of the backward pass, each with the operand whose gradient it is."""

LOSS_GRADIENT = 0.75
"""Gradient of the loss in the backward pass: not 1, so that a kernel that ignores it is noticed."""


def inputs(problem: CrossEntropy, precision: str, seed: int = 0) -> Operands:
    """Draw logits, uniform in [-8, 8), and targets, each class as likely as the others."""
    shape = (problem.tokens, problem.vocabulary)
    makers: Makers = {
        "logits": partial(floats, shape, precision, HALF_WIDTH, seed, 0),
        "targets": partial(integers, shape[:1], problem.vocabulary, seed, 1),
        GRADIENT: lambda: np.array(LOSS_GRADIENT, np.float32),
    }
    text = f"logits in +-{HALF_WIDTH:g}, any class as target, gradient of the loss {LOSS_GRADIENT}"
    return Operands(makers, drawn(text, seed))


def reference(
    problem: CrossEntropy, drawn: Operands, precision: str, operation: str
) -> Mapping[str, Reference]:
    """Return the reference of the loss, of shape (1,), or of the gradient of the logits."""

    def losses_of(rows: np.ndarray) -> Bounded:
        return losses(drawn.exactly("logits", rows), drawn["targets"][rows])

    def gradient(rows: np.ndarray) -> Bounded:
        share = probabilities(drawn.exactly("logits", rows))
        right = exact(one_hot(drawn["targets"][rows], problem.vocabulary), COMPUTE_PRECISION)
        return (share - right) * exact(np.array(LOSS_GRADIENT / problem.tokens), COMPUTE_PRECISION)

    shape = (problem.tokens, problem.vocabulary)
    if operation == "backward":
        return {"": RowReference(shape, gradient, precision)}
    return {"": WholeReference((1,), partial(mean_loss, *shape, losses_of))}


def mean_loss(
    tokens: int,
    vocabulary: int,
    losses_of: Callable[[np.ndarray], Bounded],
    most: int = MOST_ENTRIES,
) -> tuple[np.ndarray, np.ndarray]:
    """Return (expected, allowed) of the mean over all tokens, of shape (1,).

    losses_of: function from token numbers to the losses of these tokens, as a column. most: logits
    of the tokens of one call.
    """
    mean = joined([losses_of(rows) for rows in row_chunks(tokens, vocabulary, most)]).mean(axis=0)
    return mean.value[0], mean.error[0]


def losses(logits: Bounded, targets: np.ndarray) -> Bounded:
    """Return log(sum(exp(x))) - x[target] of each row, as a column.

    Some kernels subtract the maximum from both terms, others round each term with it; the allowed
    error covers both.
    """
    rows = np.arange(len(targets))[:, None]
    return log_of_sum(logits) - logits[rows, targets[:, None]]


def log_of_sum(logits: Bounded) -> Bounded:
    """Return log(sum(exp(x))) of each row, as a column."""
    most = exact(logits.value.max(-1, keepdims=True), COMPUTE_PRECISION)
    return (logits - most).exp().sum().log() + most


def one_hot(targets: np.ndarray, vocabulary: int) -> np.ndarray:
    """Return a row of zeros with a 1 at the target for each token, tokens x vocabulary."""
    found = np.zeros((len(targets), vocabulary))
    found[np.arange(len(targets)), targets] = 1
    return found
