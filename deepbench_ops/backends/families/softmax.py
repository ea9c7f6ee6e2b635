"""Softmax over rows: operands, and the true output and gradient."""

from collections.abc import Mapping

import numpy as np

from deepbench_ops.backends.families.operands import (
    COMPUTE_PRECISION,
    Operands,
    RowReference,
    rows_and_gradient,
)
from deepbench_ops.backends.families.propagated_errors import Bounded, exact
from deepbench_ops.backends.kernel import Reference
from deepbench_ops.problems.softmax import Softmax

SMALL = {"batch": 37, "columns": 131}
PROBE = {"batch": 256, "columns": 1024}

GRADIENTS = {"": "x"}
"""Outputs of the backward pass, each with the operand whose gradient it is."""

HALF_WIDTH = 8.0
"""x is uniform in [-HALF_WIDTH, HALF_WIDTH), so powers in a row differ by a factor up to e^16."""


def inputs(problem: Softmax, precision: str, seed: int = 0) -> Operands:
    """Draw x, uniform in [-8, 8), and the gradient of the output, uniform in [-1, 1)."""
    shape = (problem.batch, problem.columns)
    return rows_and_gradient(shape, precision, HALF_WIDTH, seed)


def reference(
    problem: Softmax, drawn: Operands, precision: str, operation: str
) -> Mapping[str, Reference]:
    """Return the reference of the output, or of the gradient of x."""

    def output(rows: np.ndarray) -> Bounded:
        return probabilities(drawn.exactly("x", rows))

    def gradient(rows: np.ndarray) -> Bounded:
        y = output(rows).rounded_to(precision).rounded_to(COMPUTE_PRECISION)  # as forward stores it
        dy = drawn.exactly("gradient", rows)
        # Kernels may store the products and their sum.
        products = (y * dy).rounded_to(precision).rounded_to(COMPUTE_PRECISION)
        total = products.sum().rounded_to(precision).rounded_to(COMPUTE_PRECISION)
        return products - y * total

    shape = (problem.batch, problem.columns)
    return {"": RowReference(shape, gradient if operation == "backward" else output, precision)}


def probabilities(x: Bounded) -> Bounded:
    """Return exp(x - max) / sum(exp(x - max)) of each row."""
    powers = (x - exact(x.value.max(-1, keepdims=True), COMPUTE_PRECISION)).exp()
    return powers / powers.sum()
