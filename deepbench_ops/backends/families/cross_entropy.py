"""Cross-entropy: operands, and the true loss and gradient."""

from collections.abc import Mapping
from functools import partial

import numpy as np

from deepbench_ops.backends.families.error_bounds import Bounded, exact
from deepbench_ops.backends.families.operands import (
    COMPUTED,
    GRADIENT,
    Makers,
    Operands,
    RowReference,
    WholeReference,
    drawn,
    in_pieces,
    integers,
)
from deepbench_ops.backends.families.softmax import HALF_WIDTH, probabilities
from deepbench_ops.backends.kernel import Reference
from deepbench_ops.problems.cross_entropy import CrossEntropy
from deepbench_ops.random_operands import floats

SMALL = {"tokens": 37, "vocabulary": 131}
PROBE = {"tokens": 256, "vocabulary": 1024}

GRADIENTS = {"": "logits"}
"""Outputs of the backward pass, and the operands that they are the gradients of."""

FACTOR = 0.75
"""The gradient that arrives at the loss: not 1, so that one that is left out is noticed."""


def outputs(problem: CrossEntropy, operation: str) -> tuple[str, ...]:
    """Return the names of an operation's outputs."""
    return ("",)


def inputs(problem: CrossEntropy, precision: str, seed: int = 0) -> Operands:
    """Draw logits, uniform in [-8, 8), and targets, each class as likely as the others."""
    shape = (problem.tokens, problem.vocabulary)
    makers: Makers = {
        "logits": partial(floats, shape, precision, HALF_WIDTH, seed, 0),
        "targets": partial(integers, shape[:1], problem.vocabulary, seed, 1),
        GRADIENT: lambda: np.array(FACTOR, np.float32),
    }
    text = f"logits in +-{HALF_WIDTH:g}, any class as target, gradient of the loss {FACTOR}"
    return Operands(makers, drawn(text, seed))


def reference(
    problem: CrossEntropy, drawn: Operands, precision: str, operation: str
) -> Mapping[str, Reference]:
    """Return the reference of the loss, of shape (1,), or of the gradient of the logits."""
    if operation != "backward":
        return {"": WholeReference((1,), lambda: _loss(problem, drawn))}

    def gradient(rows: np.ndarray) -> Bounded:
        share = probabilities(drawn.exactly("logits", rows))
        right = exact(one_hot(drawn["targets"][rows], problem.vocabulary), COMPUTED)
        return (share - right) * exact(np.array(FACTOR / problem.tokens), COMPUTED)

    shape = (problem.tokens, problem.vocabulary)
    return {"": RowReference(shape, gradient, precision)}


def _loss(problem: CrossEntropy, drawn: Operands) -> tuple[np.ndarray, np.ndarray]:
    found = [
        losses(drawn.exactly("logits", rows), drawn["targets"][rows])
        for rows in in_pieces(problem.tokens, problem.vocabulary)
    ]
    return mean_of(found)


def losses(logits: Bounded, targets: np.ndarray) -> Bounded:
    """Return log(sum(exp(x))) - x[target] of each row, as a column.

    Some kernels take the maximum out of both terms, others round it in: an error of both.
    """
    most = exact(logits.value.max(-1, keepdims=True), COMPUTED)
    total = (logits - most).exp().sum().log() + most
    rows = np.arange(len(targets))[:, None]
    return total - logits[rows, targets[:, None]]


def mean_of(parts: list[Bounded]) -> tuple[np.ndarray, np.ndarray]:
    """Return (expected, allowed) of the mean of columns, of shape (1,)."""
    value, error = (
        np.concatenate([getattr(each, name) for each in parts]) for name in ("value", "error")
    )
    mean = Bounded(value, error, COMPUTED).mean(axis=0)
    return mean.value[0], mean.error[0]


def one_hot(targets: np.ndarray, vocabulary: int) -> np.ndarray:
    """Return rows of zeros with a 1 at the target."""
    found = np.zeros((len(targets), vocabulary))
    found[np.arange(len(targets)), targets] = 1
    return found
