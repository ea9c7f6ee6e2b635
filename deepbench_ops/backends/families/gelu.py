"""GELU: operands, and the true output and gradient."""

from collections.abc import Mapping
from math import erf, pi, sqrt

import numpy as np

from deepbench_ops.backends.families.operands import (
    COMPUTE_PRECISION,
    Operands,
    RowReference,
    rows_and_gradient,
)
from deepbench_ops.backends.families.propagated_errors import Bounded
from deepbench_ops.backends.kernel import Reference
from deepbench_ops.backends.tolerance import LIBRARY_ERROR
from deepbench_ops.problems.gelu import Gelu

SMALL = {"batch": 37, "columns": 131}
PROBE = {"batch": 256, "columns": 1024}

GRADIENTS = {"": "x"}
"""Outputs of the backward pass, each with the operand whose gradient it is."""

ERF_ERROR = 2.0**-20
"""Absolute error of a library's erf in float32: 1.5e-7 of its usual approximation (Abramowitz and
Stegun, 7.1.26), and the error of the exponential in it."""

HALF_WIDTH = 4.0
"""x is uniform in [-HALF_WIDTH, HALF_WIDTH); for larger magnitudes GELU is close to 0 or to x."""


def inputs(problem: Gelu, precision: str, seed: int = 0) -> Operands:
    """Draw x, uniform in [-4, 4), and the gradient of the output, uniform in [-1, 1)."""
    shape = (problem.batch, problem.columns)
    return rows_and_gradient(shape, precision, HALF_WIDTH, seed)


def reference(
    problem: Gelu, drawn: Operands, precision: str, operation: str
) -> Mapping[str, Reference]:
    """Return the reference of the output, or of the gradient of x."""

    def output(rows: np.ndarray) -> Bounded:
        x = np.asarray(drawn["x"][rows], np.float64)
        value = x * distribution(x)
        return Bounded(
            value, ERF_ERROR / 2 * np.abs(x) + 2.0**-23 * np.abs(value), COMPUTE_PRECISION
        )

    def gradient(rows: np.ndarray) -> Bounded:
        x, dy = (np.asarray(drawn[name][rows], np.float64) for name in ("x", "gradient"))
        density = np.exp(-x * x / 2) / sqrt(2 * pi)
        slope = distribution(x) + x * density
        off = ERF_ERROR / 2 + LIBRARY_ERROR * np.abs(x) * density * (1 + x * x)
        return Bounded(dy * slope, np.abs(dy) * (off + 2.0**-23 * np.abs(slope)), COMPUTE_PRECISION)

    shape = (problem.batch, problem.columns)
    return {"": RowReference(shape, gradient if operation == "backward" else output, precision)}


_ERF = np.frompyfunc(erf, 1, 1)


def distribution(x: np.ndarray) -> np.ndarray:
    """Return the distribution function of the normal distribution, (1 + erf(x/sqrt(2)))/2."""
    return 0.5 * (1 + np.asarray(_ERF(x / sqrt(2)), np.float64))
