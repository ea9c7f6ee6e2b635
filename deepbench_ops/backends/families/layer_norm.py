"""LayerNorm: operands, and the true output and gradients."""

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
from deepbench_ops.problems.layer_norm import LayerNorm
from deepbench_ops.random_operands import floats, round_to

SMALL = {"tokens": 37, "hidden": 131}
PROBE = {"tokens": 256, "hidden": 1024}

EPSILON = 1e-5
"""Added to the variance: the default of torch and of ONNX."""

GRADIENTS = {"": "x", "weight_gradient": "weight", "bias_gradient": "bias"}
"""Outputs of the backward pass, each with the operand whose gradient it is."""

SMALL_ROW_STEP, SMALL_ROW_FACTOR = 8, 2.0**-6
"""Every SMALL_ROW_STEP-th row is smaller by this factor, so that epsilon matters there."""


def inputs(problem: LayerNorm, precision: str, seed: int = 0) -> Operands:
    """Draw x, weight, bias and the gradient of the output.

    x is uniform in [-0.75, 1.25), with every eighth row divided by 64. The weight is uniform in
    [0.5, 1.5), bias and gradient in [-1, 1).
    """
    shape = (problem.tokens, problem.hidden)

    def x() -> np.ndarray:
        values = floats(shape, "float32", 1.0, seed, 0) + np.float32(0.25)
        values[::SMALL_ROW_STEP] *= np.float32(SMALL_ROW_FACTOR)
        return round_to(values, precision)

    def weight() -> np.ndarray:
        return round_to(floats(shape[1:], "float32", 0.5, seed, 1) + np.float32(1), precision)

    makers: Makers = {
        "x": x,
        "weight": weight,
        "bias": partial(floats, shape[1:], precision, 1.0, seed, 2),
        GRADIENT: partial(floats, shape, precision, 1.0, seed, 3),
    }
    text = (
        f"x in -0.75..1.25, every {SMALL_ROW_STEP}th row 64 times smaller; weight in 0.5..1.5;"
        " bias and gradient in +-1"
    )
    return Operands(makers, drawn(text, seed))


def reference(
    problem: LayerNorm, drawn: Operands, precision: str, operation: str
) -> Mapping[str, Reference]:
    """Return the references of all outputs."""
    truth = _Truth(problem, drawn)
    shape = (problem.tokens, problem.hidden)
    if operation != "backward":
        return {"": RowReference(shape, truth.output, precision)}
    return {
        "": RowReference(shape, truth.input_gradient, precision),
        "weight_gradient": ColumnReference(problem.hidden, truth.weight_terms, precision),
        "bias_gradient": ColumnReference(problem.hidden, truth.bias_terms, precision),
    }


class _Truth:
    """LayerNorm of rows in float64, with the errors allowed."""

    def __init__(self, problem: LayerNorm, drawn: Operands) -> None:
        self.problem, self.drawn = problem, drawn
        self.all_statistics = cache(self._all_statistics)

    def output(self, rows: np.ndarray) -> Bounded:
        """The output."""
        x = self.drawn.exactly("x", rows)
        mean, scale = statistics(x)
        return (x - mean) * scale * self.drawn.exactly("weight") + self.drawn.exactly("bias")

    def input_gradient(self, rows: np.ndarray) -> Bounded:
        """The gradient of x: (g - mean(g) - x̂·mean(g·x̂)) / deviation with g = dy·w."""
        x = self.drawn.exactly("x", rows)
        mean, scale = statistics(x)
        normal = (x - mean) * scale
        g = self.drawn.exactly("gradient", rows) * self.drawn.exactly("weight")
        return (g - g.mean() - normal * (g * normal).mean()) * scale

    def weight_terms(self, columns: np.ndarray) -> Bounded:
        """Terms dy·x̂ of the weight's gradient, which is their sum over all rows."""
        mean, scale = self.all_statistics()
        where = (slice(None), columns)
        normal = (self.drawn.exactly("x", where) - mean) * scale
        return self.drawn.exactly("gradient", where) * normal

    def bias_terms(self, columns: np.ndarray) -> Bounded:
        """Terms dy of the bias's gradient, which is their sum over all rows."""
        return self.drawn.exactly("gradient", (slice(None), columns))

    def _all_statistics(self) -> tuple[Bounded, Bounded]:
        pieces = row_chunks(self.problem.tokens, self.problem.hidden)
        found = [statistics(self.drawn.exactly("x", rows)) for rows in pieces]
        means, scales = zip(*found, strict=True)
        return joined(means), joined(scales)


def statistics(x: Bounded) -> tuple[Bounded, Bounded]:
    """Return the mean and 1 / sqrt(variance + epsilon) of each row, as columns."""
    mean = x.mean()
    off = x - mean
    # Some kernels compute the variance as mean(x²) - mean², with the error of mean(x²).
    variance = (off * off).mean()
    squares = (x * x).mean()
    wide = Bounded(variance.value, variance.error + squares.error, COMPUTE_PRECISION)
    return mean, (wide + exact(np.array(EPSILON), COMPUTE_PRECISION)).inverse_root()
