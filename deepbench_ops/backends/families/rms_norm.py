"""RMSNorm: operands, and the true output, sum and gradients."""

from collections.abc import Mapping
from functools import cache, partial

import numpy as np

from deepbench_ops.backends.families.operands import (
    COMPUTE_PRECISION,
    GRADIENT,
    ColumnReference,
    Makers,
    Operands,
    RowReference,
    drawn,
    row_chunks,
)
from deepbench_ops.backends.families.propagated_errors import Bounded, exact, joined
from deepbench_ops.backends.kernel import Reference
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.rms_norm import RmsNorm
from deepbench_ops.random_operands import floats, round_to

SMALL = {"tokens": 37, "hidden": 131}
PROBE = {"tokens": 256, "hidden": 1024}

EPSILON = 1e-6
"""Added to the mean square: the value of Llama 2, Qwen and T5."""

SUM = "sum"
"""Further output of add_rms_norm: the sum that is normalised."""

GRADIENTS = {"": "x", "weight_gradient": "weight"}
"""Outputs of the backward pass, each with the operand whose gradient it is."""

SMALL_ROW_STEP, SMALL_ROW_FACTOR = 8, 2.0**-6
"""Every SMALL_ROW_STEP-th row is smaller by this factor, as inputs of a first layer are, so that
epsilon matters there."""


def refuse(problem: RmsNorm, precision: str, operation: str) -> None:
    """Raise Unsupported for the backward pass of add_rms_norm: it is that of rms_norm and an
    addition."""
    if problem.added and operation == "backward":
        raise Unsupported(
            "the backward pass of add_rms_norm is not measured: it is that of rms_norm and an"
            " addition"
        )


def outputs(problem: RmsNorm, operation: str) -> tuple[str, ...]:
    """Return the names of an operation's outputs."""
    if operation == "backward":
        return tuple(GRADIENTS)
    return ("", SUM) if problem.added else ("",)


def inputs(problem: RmsNorm, precision: str, seed: int = 0) -> Operands:
    """Draw x, the weight, and the residual (of add_rms_norm) or the gradient of the output.

    x, residual and gradient are uniform in [-1, 1), with every eighth row of x and residual divided
    by 64; the weight is uniform in [0.5, 1.5).
    """
    shape = (problem.tokens, problem.hidden)

    def rows(stream: int) -> np.ndarray:
        values = floats(shape, precision, 1.0, seed, stream)
        values[::SMALL_ROW_STEP] *= values.dtype.type(SMALL_ROW_FACTOR)
        return values

    def weight() -> np.ndarray:
        return round_to(floats(shape[1:], "float32", 0.5, seed, 1) + np.float32(1), precision)

    makers: Makers = {"x": partial(rows, 0), "weight": weight}
    if problem.added:
        makers["residual"] = partial(rows, 2)
    else:
        makers[GRADIENT] = partial(floats, shape, precision, 1.0, seed, 3)
    text = (
        f"x and residual in +-1, every {SMALL_ROW_STEP}th row in +-1/64; weight in 0.5..1.5;"
        " gradient in +-1"
    )
    return Operands(makers, drawn(text, seed))


def reference(
    problem: RmsNorm, drawn: Operands, precision: str, operation: str
) -> Mapping[str, Reference]:
    """Return the references of all outputs."""
    truth = _Truth(problem, drawn, precision)
    shape = (problem.tokens, problem.hidden)
    if operation == "backward":
        return {
            "": RowReference(shape, truth.input_gradient, precision),
            "weight_gradient": ColumnReference(problem.hidden, truth.weight_terms, precision),
        }
    found: dict[str, Reference] = {"": RowReference(shape, truth.output, precision)}
    if problem.added:
        found[SUM] = RowReference(shape, truth.sums, precision)
    return found


class _Truth:
    """RMSNorm of rows in float64, with the errors allowed."""

    def __init__(self, problem: RmsNorm, drawn: Operands, precision: str) -> None:
        self.problem, self.drawn, self.precision = problem, drawn, precision
        self.all_factors = cache(self._all_factors)

    def sums(self, rows: np.ndarray) -> Bounded:
        """Rows that are normalised: x, or x plus residual."""
        x = self.drawn.exactly("x", rows)
        return x + self.drawn.exactly("residual", rows) if self.problem.added else x

    def output(self, rows: np.ndarray) -> Bounded:
        """Rows of the output. Some kernels normalise the stored sum, others the unrounded one."""
        x = self.sums(rows)
        if self.problem.added:
            x = x.rounded_to(self.precision).rounded_to(COMPUTE_PRECISION)
        return x * factors(x) * self.drawn.exactly("weight")

    def input_gradient(self, rows: np.ndarray) -> Bounded:
        """The gradient of x: (g - x̂·mean(g·x̂)) / rms with g = dy·w."""
        x = self.drawn.exactly("x", rows)
        scale = factors(x)
        normal, g = x * scale, self.drawn.exactly("gradient", rows) * self.drawn.exactly("weight")
        return (g - normal * (g * normal).mean()) * scale

    def weight_terms(self, columns: np.ndarray) -> Bounded:
        """Terms dy·x̂ of the weight's gradient, which is their sum over all rows."""
        where = (slice(None), columns)
        gradient = self.drawn.exactly("gradient", where)
        return gradient * (self.drawn.exactly("x", where) * self.all_factors())

    def _all_factors(self) -> Bounded:
        pieces = row_chunks(self.problem.tokens, self.problem.hidden)
        return joined([factors(self.drawn.exactly("x", rows)) for rows in pieces])


def factors(x: Bounded) -> Bounded:
    """Return 1 / sqrt(mean(x²) + epsilon) of each row, as a column."""
    return ((x * x).mean() + exact(np.array(EPSILON), COMPUTE_PRECISION)).inverse_root()
