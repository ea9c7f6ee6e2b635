"""RMSNorm: operands, and the true output, sum and gradients."""

from collections.abc import Mapping
from functools import cache, partial

import numpy as np

from deepbench_ops.backends.families.operands import (
    COMPUTED,
    GRADIENT,
    ColumnReference,
    Makers,
    Operands,
    RowReference,
    drawn,
    in_pieces,
)
from deepbench_ops.backends.families.propagated_errors import Bounded, exact, joined
from deepbench_ops.backends.kernel import Reference
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.rms_norm import RmsNorm
from deepbench_ops.random_operands import floats, round_to

SMALL = {"tokens": 37, "hidden": 131}
PROBE = {"tokens": 256, "hidden": 1024}

EPSILON = 1e-6
"""That of Llama 2, Qwen and T5."""

SUM = "sum"
"""The further output of add_rms_norm: the sum that is normalised."""

GRADIENTS = {"": "x", "weight_gradient": "weight"}
"""Outputs of the backward pass, and the operands that they are the gradients of."""

QUIET, QUIETER_BY = 8, 2.0**-6
"""Every eighth row is so much smaller, as the first layer's input is: epsilon counts there."""


def refuse(problem: RmsNorm, precision: str, operation: str) -> None:
    """Raise Unsupported for the backward pass of a sum: that of the norm, and an addition."""
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
    """Draw x, the residual, the weight and the gradient that arrives.

    x is uniform in [-1, 1), every eighth row smaller; the weight is uniform in [0.5, 1.5).
    """
    shape = (problem.tokens, problem.hidden)

    def rows(stream: int) -> np.ndarray:
        values = floats(shape, precision, 1.0, seed, stream)
        values[::QUIET] *= values.dtype.type(QUIETER_BY)
        return values

    def weight() -> np.ndarray:
        return round_to(floats(shape[1:], "float32", 0.5, seed, 1) + np.float32(1), precision)

    makers: Makers = {"x": partial(rows, 0), "weight": weight}
    if problem.added:
        makers["residual"] = partial(rows, 2)
    else:
        makers[GRADIENT] = partial(floats, shape, precision, 1.0, seed, 3)
    text = (
        f"x and residual in +-1, every {QUIET}th row in +-1/64; weight in 0.5..1.5; gradient in +-1"
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
        """Rows to be normalised: x, or its sum with the residual."""
        x = self.drawn.exactly("x", rows)
        return x + self.drawn.exactly("residual", rows) if self.problem.added else x

    def output(self, rows: np.ndarray) -> Bounded:
        """The output; some kernels normalise the sum as it is stored, others as it was added."""
        x = self.sums(rows)
        if self.problem.added:
            x = x.rounded_to(self.precision).rounded_to(COMPUTED)
        return x * factors(x) * self.drawn.exactly("weight")

    def input_gradient(self, rows: np.ndarray) -> Bounded:
        """The gradient of x: (g - x̂·mean(g·x̂)) / rms with g = dy·w."""
        x = self.drawn.exactly("x", rows)
        scale = factors(x)
        normal, g = x * scale, self.drawn.exactly("gradient", rows) * self.drawn.exactly("weight")
        return (g - normal * (g * normal).mean()) * scale

    def weight_terms(self, columns: np.ndarray) -> Bounded:
        """dy·x̂, which the gradient of the weight adds up over all rows."""
        where = (slice(None), columns)
        gradient = self.drawn.exactly("gradient", where)
        return gradient * (self.drawn.exactly("x", where) * self.all_factors())

    def _all_factors(self) -> Bounded:
        pieces = in_pieces(self.problem.tokens, self.problem.hidden)
        return joined([factors(self.drawn.exactly("x", rows)) for rows in pieces])


def factors(x: Bounded) -> Bounded:
    """1 / sqrt(mean(x²) + epsilon) of each row."""
    return ((x * x).mean() + exact(np.array(EPSILON), COMPUTED)).inverse_root()
