"""Dense products: column-major operands, and the reference of C + A·B."""

from dataclasses import dataclass

import numpy as np

from deepbench_ops.backends.kernel import Index, widened
from deepbench_ops.backends.tolerance import allowed
from deepbench_ops.problems.gemm import Gemm
from deepbench_ops.random_operands import INT32_INITIAL, floats, int8, int32

SMALL = {"m": 61, "n": 53, "k": 131}
"""Odd sizes, which are no multiples of a vector or tile of a library."""

PROBE = {"m": 192, "n": 192, "k": 192}

PIECE_TERMS = 2**19
"""Products that the reference computes at a time; more would be slower, for new memory."""


@dataclass(frozen=True)
class GemmInputs:
    """The operands of C = A·B + C as numpy views of column-major storage, 64-byte aligned.

    `a` is op(A), m x k: a transposed view of k x m storage where the published operand is
    transposed; `b` is op(B), k x n, likewise; `c` is the initial C, m x n. In a precision that
    numpy lacks (tf32, bfloat16) they are float32 with values of that precision; in int8 `c` is
    int32.
    """

    a: np.ndarray
    b: np.ndarray
    c: np.ndarray
    notes: dict[str, str]


@dataclass(frozen=True)
class RowMajorOperands:
    """The memory of column-major operands, read as row-major arrays: those of the transposed
    product.

    The transposed C (n x m) is the transposed op(B) times the transposed op(A).
    """

    b: np.ndarray
    """n x k, or k x n where the published operand is transposed."""
    a: np.ndarray
    """k x m, or m x k where the published operand is transposed."""
    c: np.ndarray
    """n x m."""


def row_major(problem: Gemm, drawn: GemmInputs) -> RowMajorOperands:
    """Return the operands as C-contiguous arrays, for frameworks that have no other arrays."""
    return RowMajorOperands(
        b=drawn.b if problem.b_transposed else drawn.b.T,
        a=drawn.a if problem.a_transposed else drawn.a.T,
        c=drawn.c.T,
    )


def inputs(problem: Gemm, precision: str, seed: int = 0) -> GemmInputs:
    """Draw the operands of `problem` in `precision`.

    Floating-point A and B are uniform in [-h, h) with h = (9/k)^(1/4). The entries of A·B then have
    unit variance for every k, so repeated accumulation cannot overflow even float16, whose sums
    stop growing near 2^12 times the product that is added. C is uniform in [-1, 1). int8 operands
    are uniform over the full range -128..127.
    """
    m, n, k = problem.m, problem.n, problem.k
    shapes = (
        (m, k) if problem.a_transposed else (k, m),
        (k, n) if problem.b_transposed else (n, k),
        (n, m),
    )
    if precision == "int8":
        a, b = (int8(shape, seed, stream) for stream, shape in enumerate(shapes[:2]))
        c = int32(shapes[2], seed, 2)
        drawn = f"A, B uniform in -128..127, C in {-INT32_INITIAL}..{INT32_INITIAL - 1}"
    else:
        half_width = (9 / k) ** 0.25
        a, b = (
            floats(shape, precision, half_width, seed, stream)
            for stream, shape in enumerate(shapes[:2])
        )
        c = floats(shapes[2], precision, 1.0, seed, 2)
        drawn = f"A, B uniform in +-{half_width:.4g} = (9/k)^(1/4), C in +-1"
    return GemmInputs(
        a=a if problem.a_transposed else a.T,
        b=b if problem.b_transposed else b.T,
        c=c.T,
        notes={
            "inputs": f"{drawn}; raw bits of SFC64, seed {seed}",
            "layout": "column-major, A stored "
            f"{'k x m' if problem.a_transposed else 'm x k'}, B stored "
            f"{'n x k' if problem.b_transposed else 'k x n'}",
            "padding": "none",
        },
    )


def reference(problem: Gemm, drawn: GemmInputs, precision: str, operation: str) -> "GemmReference":
    """Return the reference of the output of ``forward``, the only operation."""
    return GemmReference(drawn, precision)


@dataclass(frozen=True)
class GemmReference:
    """Reference of C + A·B, computed in float64 (int64 for int8) from the kernel's operands.

    The tolerance is that of `tolerance.allowed` for k products and |C|. The stored values are C,
    and twice C + A·B: some kernels add C before they round, others store A·B first.
    """

    inputs: GemmInputs
    precision: str

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the output, (m, n)."""
        m, n = self.inputs.c.shape
        return m, n

    def everywhere(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed), both m x n; for small problems."""
        drawn = (self.inputs.a, self.inputs.b, self.inputs.c)
        left, right, initial = (widened(x) for x in drawn)
        return self._judge(initial, left @ right, left**2 @ right**2)

    def at(self, index: Index) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed) at the entries (rows, columns), one dot product each."""
        k = self.inputs.a.shape[1]
        pieces = min(-(-k * len(index[0]) // PIECE_TERMS), len(index[0]))
        split = zip(*(np.array_split(axis, pieces) for axis in index), strict=True)
        sums = np.concatenate([self._sums(rows, columns) for rows, columns in split], axis=1)
        return self._judge(widened(self.inputs.c[index]), *sums)

    def _sums(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return, at some entries, the sum of the products and the sum of their squares."""
        left = widened(self.inputs.a[rows])
        products = left * widened(self.inputs.b.T[columns])
        return np.stack([products.sum(axis=1), (products**2).sum(axis=1)])

    def _judge(
        self, initial: np.ndarray, product: np.ndarray, squares: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        expected = initial + product
        wander = np.abs(initial) + np.sqrt(squares)
        stored = np.abs(initial) + 2 * np.abs(expected)
        k = self.inputs.a.shape[1]
        return expected, allowed(self.precision, k, wander, stored)
