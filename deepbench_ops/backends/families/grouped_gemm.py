"""Grouped products: operands sorted by group, and the references of y, dx and dW."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deepbench_ops.backends.kernel import Index, widened
from deepbench_ops.backends.tolerance import allowed
from deepbench_ops.problems.grouped_gemm import GroupedGemm
from deepbench_ops.random_operands import floats

SMALL = {"groups": 12, "m": 37, "n": 40, "k": 56}
"""Largest sizes of a small twin. So few rows leave some groups empty. n and k are multiples of 8,
since torch requires rows of a multiple of 16 bytes."""

PROBE = {"groups": 8, "m": 256, "n": 256, "k": 256}

INPUTS, WEIGHTS, GRADIENT = 0, 1, 2
"""Streams of random bits."""


@dataclass(frozen=True)
class GroupedInputs:
    """Row-major operands, each drawn at its first use; rows are sorted by group.

    In a precision that numpy lacks they are float32 with values of that precision.
    """

    problem: GroupedGemm
    precision: str
    seed: int

    @property
    def half_width(self) -> float:
        """Bound h = (9/k)^(1/4) of the interval of all operands; y then has unit variance."""
        return float((9 / self.problem.k) ** 0.25)

    @cached_property
    def x(self) -> np.ndarray:
        """Inputs, m x k."""
        return self._drawn((self.problem.m, self.problem.k), INPUTS)

    @cached_property
    def w(self) -> np.ndarray:
        """Weights, groups x n x k."""
        return self._drawn((self.problem.groups, self.problem.n, self.problem.k), WEIGHTS)

    @cached_property
    def dy(self) -> np.ndarray:
        """Gradient of the output, m x n."""
        return self._drawn((self.problem.m, self.problem.n), GRADIENT)

    @cached_property
    def ends(self) -> np.ndarray:
        """For each group the number of the row after its last one, int32."""
        return np.cumsum(self.problem.loads).astype(np.int32)

    @property
    def starts(self) -> np.ndarray:
        """For each group the number of its first row, int32."""
        return np.concatenate([[0], self.ends[:-1]]).astype(np.int32)

    @cached_property
    def owners(self) -> np.ndarray:
        """The group of each row."""
        return np.repeat(np.arange(self.ends.size), self.ends - self.starts)

    @property
    def notes(self) -> dict[str, str]:
        """Notes for the record: distribution and layout of the operands, and sizes of groups."""
        p = self.problem
        return {
            "inputs": f"x, W, dy uniform in ±{self.half_width:.4g} = (9/k)^(1/4); raw bits of"
            f" SFC64, seed {self.seed}",
            "layout": "row-major, rows sorted by expert, W experts x n x k",
            "padding": "none",
            "loads": f"{p.busy} of {p.groups} experts have rows, the busiest {max(p.loads)}",
        }

    def _drawn(self, shape: tuple[int, ...], stream: int) -> np.ndarray:
        return floats(shape, self.precision, self.half_width, self.seed, stream)


def inputs(problem: GroupedGemm, precision: str, seed: int = 0) -> GroupedInputs:
    """Return the operands of `problem` in `precision`."""
    return GroupedInputs(problem, precision, seed)


def memory_needed(problem: GroupedGemm, operation: str, execution: str) -> float:
    """Return the bytes of all operands and outputs in float32, drawn and converted.

    The matrices of groups without rows count as well.
    """
    p = problem
    return 2 * 4 * (p.groups * p.n * p.k + p.m * (p.n + p.k))


def reference(
    problem: GroupedGemm, drawn: GroupedInputs, precision: str, operation: str
) -> "RowsReference | WeightReference":
    """Return the reference of y, of dx, or of dW."""
    if operation == "backward_weight":
        return WeightReference(drawn, precision)
    return RowsReference(drawn, precision, operation == "backward_input")


@dataclass(frozen=True)
class RowsReference:
    """Reference in float64 of the product of each row with the matrix of its group: x·Wᵀ, or dy·W
    where `backward`."""

    inputs: GroupedInputs
    precision: str
    backward: bool

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the output: (m, n), or (m, k) where `backward`."""
        p = self.inputs.problem
        return p.m, p.k if self.backward else p.n

    @property
    def _rows(self) -> np.ndarray:
        return self.inputs.dy if self.backward else self.inputs.x

    def everywhere(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed) of all entries; for small problems."""
        index = np.indices(self.shape).reshape(2, -1)
        found = self.at((index[0], index[1]))
        return found[0].reshape(self.shape), found[1].reshape(self.shape)

    def at(self, index: Index) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed) at the entries (rows, columns), one dot product each."""
        rows, columns = index
        owners = self.inputs.owners[rows]
        w = self.inputs.w
        right = widened(w[owners, :, columns] if self.backward else w[owners, columns])
        return _judged(widened(self._rows[rows]) * right, self.precision)


@dataclass(frozen=True)
class WeightReference:
    """Reference in float64 of dW_i = dy_iᵀ·x_i of each group, zeros for a group without rows."""

    inputs: GroupedInputs
    precision: str

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the output, (groups, n, k)."""
        p = self.inputs.problem
        return p.groups, p.n, p.k

    def everywhere(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed) of all entries; for small problems."""
        drawn = self.inputs
        found = []
        for start, end in zip(drawn.starts, drawn.ends, strict=True):
            dy, x = widened(drawn.dy[start:end]), widened(drawn.x[start:end])
            value = dy.T @ x
            wander = np.sqrt((dy**2).T @ x**2)
            found.append((value, allowed(self.precision, end - start, wander, np.abs(value))))
        return np.stack([each[0] for each in found]), np.stack([each[1] for each in found])

    def at(self, index: Index) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed) at the entries (groups, rows, columns)."""
        drawn, found = self.inputs, []
        for group, row, column in zip(*index, strict=True):
            held = slice(drawn.starts[group], drawn.ends[group])
            products = widened(drawn.dy[held, row]) * widened(drawn.x[held, column])
            found.append(_judged(products[None], self.precision))
        return tuple(np.concatenate(each) for each in zip(*found, strict=True))  # type: ignore


def _judged(products: np.ndarray, precision: str) -> tuple[np.ndarray, np.ndarray]:
    """Return (expected, allowed) of the sums of products along each row."""
    value = products.sum(axis=1)
    wander = np.sqrt((products**2).sum(axis=1))
    return value, allowed(precision, products.shape[1], wander, np.abs(value))
