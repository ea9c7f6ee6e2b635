"""GELU: operands, and the true output and gradient."""

from collections.abc import Mapping
from math import erf, pi, sqrt

import numpy as np

from deepbench_ops.backends.families.operands import (
    COMPUTED,
    Operands,
    RowReference,
    rows_and_gradient,
)
from deepbench_ops.backends.families.propagated_errors import Bounded
from deepbench_ops.backends.kernel import Reference
from deepbench_ops.backends.tolerance import LIBRARY
from deepbench_ops.problems.gelu import Gelu

SMALL = {"batch": 37, "columns": 131}
PROBE = {"batch": 256, "columns": 1024}

GRADIENTS = {"": "x"}
"""Outputs of the backward pass, and the operands that they are the gradients of."""

ERF = 2.0**-20
"""Error of a library's erf in float32: its usual approximation (Abramowitz and Stegun, 7.1.26) errs
by 1.5e-7, and by that of an exponential in it."""

HALF_WIDTH = 4.0
"""Of x: beyond, GELU is 0 or x itself."""


def inputs(problem: Gelu, precision: str, seed: int = 0) -> Operands:
    """Draw x, uniform in [-4, 4), and the gradient that arrives, in [-1, 1)."""
    shape = (problem.batch, problem.columns)
    return rows_and_gradient(shape, precision, HALF_WIDTH, seed)


def reference(
    problem: Gelu, drawn: Operands, precision: str, operation: str
) -> Mapping[str, Reference]:
    """Return the reference of the output, or of the gradient of x."""

    def output(rows: np.ndarray) -> Bounded:
        x = np.asarray(drawn["x"][rows], np.float64)
        value = x * distribution(x)
        return Bounded(value, ERF / 2 * np.abs(x) + 2.0**-23 * np.abs(value), COMPUTED)

    def gradient(rows: np.ndarray) -> Bounded:
        x, dy = (np.asarray(drawn[name][rows], np.float64) for name in ("x", "gradient"))
        density = np.exp(-x * x / 2) / sqrt(2 * pi)
        slope = distribution(x) + x * density
        off = ERF / 2 + LIBRARY * np.abs(x) * density * (1 + x * x)
        return Bounded(dy * slope, np.abs(dy) * (off + 2.0**-23 * np.abs(slope)), COMPUTED)

    shape = (problem.batch, problem.columns)
    return {"": RowReference(shape, gradient if operation == "backward" else output, precision)}


_ERF = np.frompyfunc(erf, 1, 1)


def distribution(x: np.ndarray) -> np.ndarray:
    """The normal distribution at x: (1 + erf(x/sqrt(2)))/2."""
    return 0.5 * (1 + np.asarray(_ERF(x / sqrt(2)), np.float64))
