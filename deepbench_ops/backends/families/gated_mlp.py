"""Gated MLP: operands, and the true output and gradients.

As in frameworks, each product, activation and gradient is stored in the precision of the operands.
"""

from collections.abc import Mapping
from functools import partial
from math import pi, sqrt

import numpy as np

from deepbench_ops.backends.families.operands import (
    GRADIENT,
    Makers,
    Operands,
    drawn,
)
from deepbench_ops.backends.families.propagated_errors import Bounded, exact, summed
from deepbench_ops.backends.kernel import Index, Reference
from deepbench_ops.backends.tolerance import LIBRARY_ERROR, UNIT_ROUNDOFF
from deepbench_ops.problems.gated_mlp import GatedMlp
from deepbench_ops.random_operands import floats

SMALL = {"tokens": 29, "hidden": 61, "intermediate": 67}
PROBE = {"tokens": 64, "hidden": 256, "intermediate": 512}

GRADIENTS = {
    "": "x",
    "gate_gradient": "gate",
    "up_gradient": "up",
    "down_gradient": "down",
}
"""Outputs of the backward pass, each with the operand whose gradient it is."""

LARGEST_SLOPE, LARGEST_CURVATURE = 1.13, 1.0
"""Upper bounds of the first and of the second derivative of SiLU and GELU."""


def inputs(problem: GatedMlp, precision: str, seed: int = 0) -> Operands:
    """Draw x, the three matrices and the gradient of the output, all uniform.

    x has unit variance, and products with the matrices keep the variance.
    """
    p = problem
    inner, outer = (p.intermediate, p.hidden), (p.hidden, p.intermediate)
    makers: Makers = {
        "x": partial(floats, (p.tokens, p.hidden), precision, sqrt(3), seed, 0),
        "gate": partial(floats, inner, precision, sqrt(3 / p.hidden), seed, 1),
        "up": partial(floats, inner, precision, sqrt(3 / p.hidden), seed, 2),
        "down": partial(floats, outer, precision, sqrt(3 / p.intermediate), seed, 3),
        GRADIENT: partial(floats, (p.tokens, p.hidden), precision, 1.0, seed, 4),
    }
    text = "x in +-sqrt(3), matrices in +-sqrt(3/their inputs), gradient in +-1"
    return Operands(makers, drawn(text, seed))


def reference(
    problem: GatedMlp, drawn: Operands, precision: str, operation: str
) -> Mapping[str, Reference]:
    """Return the references of all outputs."""
    truth = _Truth(problem, drawn, precision)
    tokens = (problem.tokens, problem.hidden)
    if operation != "backward":
        return {"": _SliceReference(tokens, truth.output)}
    inner, outer = (problem.intermediate, problem.hidden), (problem.hidden, problem.intermediate)
    return {
        "": _SliceReference(tokens, truth.input_gradient),
        "gate_gradient": _SliceReference(inner, partial(truth.inner_gradient, "gate")),
        "up_gradient": _SliceReference(inner, partial(truth.inner_gradient, "up")),
        "down_gradient": _SliceReference(outer, truth.down_gradient, by=1),
    }


class _SliceReference:
    """Reference of an output whose rows, or columns, can be computed one by one.

    compute: function from numbers of rows (for by = 0) or columns (by = 1) to these rows or
    columns.
    """

    def __init__(self, shape, compute, by: int = 0) -> None:  # type: ignore[no-untyped-def]
        self.shape, self.compute, self.by = shape, compute, by

    def everywhere(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed)."""
        found = self.compute(np.arange(self.shape[self.by]))
        return found.value, found.error

    def at(self, index: Index) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed) at some entries."""
        wanted, place = np.unique(index[self.by], return_inverse=True)
        found = self.compute(wanted)
        where = list(index)
        where[self.by] = place.reshape(-1)
        return found.value[tuple(where)], found.error[tuple(where)]


class _Truth:
    """The MLP in float64, for some tokens or some inner columns."""

    def __init__(self, problem: GatedMlp, drawn: Operands, precision: str) -> None:
        self.problem, self.drawn, self.precision = problem, drawn, precision
        self.all = np.arange(problem.tokens)
        self.every = np.arange(problem.intermediate)

    def output(self, tokens: np.ndarray) -> Bounded:
        """Rows of the output."""
        inner = self._inner(tokens, self.every)
        return (inner["active"] * inner["up"]).product(self._wide("down").T, np.zeros(1))

    def input_gradient(self, tokens: np.ndarray) -> Bounded:
        """Rows of the gradient of x: the sum of the gradients through gate and up."""
        inner = self._backward(tokens, self.every)
        parts = [inner[name].product(self._wide(name), np.zeros(1)) for name in ("gate", "up")]
        return parts[0] + parts[1]

    def inner_gradient(self, name: str, rows: np.ndarray) -> Bounded:
        """Rows of the gradient of the matrix `name`, gate or up."""
        return summed(self._exact("x", self.all), self._backward(self.all, rows)[name])

    def down_gradient(self, columns: np.ndarray) -> Bounded:
        """Columns of the gradient of the matrix down."""
        inner = self._inner(self.all, columns)
        return summed(inner["active"] * inner["up"], self._exact(GRADIENT, self.all))

    def _backward(self, tokens: np.ndarray, columns: np.ndarray) -> dict[str, Bounded]:
        inner = self._inner(tokens, columns)
        arriving = self._exact(GRADIENT, tokens).product(
            self._wide("down")[:, columns], np.zeros(1)
        )
        return {
            "gate": arriving * inner["up"] * inner["slope"],
            "up": arriving * inner["active"],
        }

    def _inner(self, tokens: np.ndarray, columns: np.ndarray) -> dict[str, Bounded]:
        x = self._exact("x", tokens)
        gate, up = (
            x.product(np.asarray(self.drawn[name][columns], np.float64).T, np.zeros(1))
            for name in ("gate", "up")
        )
        value, slope = ACTIVATIONS[self.problem.activation](gate.value)
        own = 2 * UNIT_ROUNDOFF[self.precision]
        active = (
            LARGEST_SLOPE * gate.error
            + own * np.abs(value)
            + 2 * LIBRARY_ERROR * np.abs(gate.value)
        )
        steep = LARGEST_CURVATURE * gate.error + own * (1 + np.abs(slope))
        return {
            "up": up,
            "active": Bounded(value, active, self.precision),
            "slope": Bounded(slope, steep, self.precision),
        }

    def _exact(self, name: str, rows: np.ndarray) -> Bounded:
        return exact(self.drawn[name][rows], self.precision)

    def _wide(self, name: str) -> np.ndarray:
        return np.asarray(self.drawn[name], np.float64)


def silu(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return SiLU, x·sigmoid(x), and its slope."""
    share = 0.5 + 0.5 * np.tanh(x / 2)
    return x * share, share * (1 + x * (1 - share))


def gelu_by_tanh(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return GELU in its tanh form, x/2·(1 + tanh(sqrt(2/pi)·(x + 0.044715·x³))), and its slope."""
    root = sqrt(2 / pi)
    turned = np.tanh(root * (x + 0.044715 * x**3))
    inner = root * (1 + 3 * 0.044715 * x**2)
    return 0.5 * x * (1 + turned), 0.5 * (1 + turned) + 0.5 * x * (1 - turned**2) * inner


ACTIVATIONS = {"swiglu": silu, "geglu": gelu_by_tanh}
