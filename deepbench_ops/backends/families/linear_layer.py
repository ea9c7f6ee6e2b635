"""Linear layers: row-major operands, and the references of y and of the gradients."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deepbench_ops.backends.families.gemm import GemmInputs, GemmReference
from deepbench_ops.backends.kernel import Reference
from deepbench_ops.problems.linear_layer import LinearLayer
from deepbench_ops.random_operands import floats

SMALL = {"m": 61, "n": 53, "k": 131}
"""Odd sizes, which are no multiples of a vector or tile of a library."""

PROBE = {"m": 192, "n": 192, "k": 192}

X, WEIGHT, BIAS, GRADIENT = range(4)
"""Streams of random bits."""

BIAS_OUTPUT = "gradient of the bias"
"""Name of the second output of `backward_weight`, for layers with a bias."""


@dataclass(frozen=True)
class LinearInputs:
    """Operands of y = x·Wᵀ + b and of its gradients, each drawn at its first use.

    In a precision that numpy lacks they are float32 with values of that precision.
    """

    problem: LinearLayer
    precision: str
    seed: int

    @property
    def half_width(self) -> float:
        """Bound h = (9/k)^(1/4) of the interval [-h, h) of x and W; x·Wᵀ then has unit variance."""
        return float((9 / self.problem.k) ** 0.25)

    @cached_property
    def x(self) -> np.ndarray:
        """Inputs, m x k."""
        return self._drawn((self.problem.m, self.problem.k), self.half_width, X)

    @cached_property
    def weight(self) -> np.ndarray:
        """Weights W, n x k."""
        return self._drawn((self.problem.n, self.problem.k), self.half_width, WEIGHT)

    @cached_property
    def bias(self) -> np.ndarray | None:
        """Bias of n numbers; None for a layer without bias."""
        return self._drawn((self.problem.n,), 1.0, BIAS) if self.problem.bias else None

    @cached_property
    def gradient(self) -> np.ndarray:
        """Gradient of y, m x n."""
        return self._drawn((self.problem.m, self.problem.n), 1.0, GRADIENT)

    @property
    def notes(self) -> dict[str, str]:
        """Notes for the record: distribution and layout of the operands."""
        return {
            "inputs": f"x, W uniform in +-{self.half_width:.4g} = (9/k)^(1/4), bias and gradient of"
            f" y in +-1; raw bits of SFC64, seed {self.seed}",
            "layout": "row-major, W stored n x k",
            "padding": "none",
        }

    def _drawn(self, shape: tuple[int, ...], half_width: float, stream: int) -> np.ndarray:
        return floats(shape, self.precision, half_width, self.seed, stream)


def inputs(problem: LinearLayer, precision: str, seed: int = 0) -> LinearInputs:
    """Return the operands of `problem` in `precision`."""
    return LinearInputs(problem, precision, seed)


def reference(
    problem: LinearLayer, drawn: LinearInputs, precision: str, operation: str
) -> dict[str, Reference]:
    """Return the references of the outputs: y, or the gradient of x, or the gradients of W and of
    the bias, if there is one."""
    if operation == "forward":
        return {"": _product(drawn.x, drawn.weight.T, precision, drawn.bias)}
    if operation == "backward_input":
        return {"": _product(drawn.gradient, drawn.weight, precision)}
    gradients: dict[str, Reference] = {"": _product(drawn.gradient.T, drawn.x, precision)}
    if problem.bias:
        ones = np.ones((problem.m, 1), dtype=np.float32)
        gradients[BIAS_OUTPUT] = _product(drawn.gradient.T, ones, precision)
    return gradients


def _product(
    left: np.ndarray, right: np.ndarray, precision: str, added: np.ndarray | None = None
) -> GemmReference:
    """Return the reference of left · right, with `added` added to each row."""
    initial = np.zeros(1, dtype=np.float32) if added is None else added
    shape = (left.shape[0], right.shape[1])
    return GemmReference(GemmInputs(left, right, np.broadcast_to(initial, shape), {}), precision)
