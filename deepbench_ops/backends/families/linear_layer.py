"""Linear layers: row-major operands, and the judges of y and of the gradients."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deepbench_ops.backends.families.gemm import GemmInputs, GemmReference
from deepbench_ops.backends.kernel import Reference
from deepbench_ops.problems.linear_layer import LinearLayer
from deepbench_ops.random_operands import floats

SMALL = {"m": 61, "n": 53, "k": 131}
"""Odd sizes, multiples of no vector or tile of a library."""

PROBE = {"m": 192, "n": 192, "k": 192}

X, WEIGHT, BIAS, GRADIENT = range(4)
"""Streams of random bits."""

BIAS_OUTPUT = "gradient of the bias"
"""Name of the second output of `backward_weight`, of a layer with a bias."""


@dataclass(frozen=True)
class LinearInputs:
    """Operands of y = x·Wᵀ + b and of its gradients, drawn when they are first asked for.

    Precisions that numpy lacks are float32 arrays holding values of that precision.
    """

    problem: LinearLayer
    precision: str
    seed: int

    @property
    def half_width(self) -> float:
        """h = (9/k)^(1/4): entries of x·Wᵀ have unit variance where x and W are uniform in
        [-h, h)."""
        return float((9 / self.problem.k) ** 0.25)

    @cached_property
    def x(self) -> np.ndarray:
        """m x k."""
        return self._drawn((self.problem.m, self.problem.k), self.half_width, X)

    @cached_property
    def weight(self) -> np.ndarray:
        """n x k."""
        return self._drawn((self.problem.n, self.problem.k), self.half_width, WEIGHT)

    @cached_property
    def bias(self) -> np.ndarray | None:
        """Of n numbers; None for a layer without one."""
        return self._drawn((self.problem.n,), 1.0, BIAS) if self.problem.bias else None

    @cached_property
    def gradient(self) -> np.ndarray:
        """The gradient of y, m x n."""
        return self._drawn((self.problem.m, self.problem.n), 1.0, GRADIENT)

    @property
    def notes(self) -> dict[str, str]:
        """How they are drawn, and how they lie."""
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
    """Return the judges of the outputs: y; the gradient of x; that of W, and of b if there is
    one."""
    if operation == "forward":
        return {"": _product(drawn.x, drawn.weight.T, precision, drawn.bias)}
    if operation == "backward_input":
        return {"": _product(drawn.gradient, drawn.weight, precision)}
    judges: dict[str, Reference] = {"": _product(drawn.gradient.T, drawn.x, precision)}
    if problem.bias:
        ones = np.ones((problem.m, 1), dtype=np.float32)
        judges[BIAS_OUTPUT] = _product(drawn.gradient.T, ones, precision)
    return judges


def _product(
    left: np.ndarray, right: np.ndarray, precision: str, added: np.ndarray | None = None
) -> GemmReference:
    """Return the judge of left · right, with `added` to each row."""
    initial = np.zeros(1, dtype=np.float32) if added is None else added
    shape = (left.shape[0], right.shape[1])
    return GemmReference(GemmInputs(left, right, np.broadcast_to(initial, shape), {}), precision)
