"""Products with a sparse matrix: operands in compressed rows, and the judges of C and of CSR."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deepbench_ops.backends.kernel import Index, Reference, widened
from deepbench_ops.backends.tolerance import allowed
from deepbench_ops.problems.sparse_gemm import SparseGemm
from deepbench_ops.random_operands import aligned_empty, floats, int8, random_bits

SMALL = {"m": 61, "n": 53, "k": 131}
"""Odd sizes, multiples of no vector or tile of a library; about six values in a row at sparsity
0.95."""

PROBE = {"m": 768, "n": 192, "k": 768}

VALUES, DENSE, POSITIONS = 0, 1, 16
"""Streams of random bits; from POSITIONS on there is one for each turn of drawing positions."""

INSTEAD_OF_ZERO = 0.25
"""Every precision has it."""


@dataclass(frozen=True)
class Csr:
    """A matrix in compressed rows: those of row i are offsets[i] up to offsets[i + 1].

    offsets: rows + 1 of int32; columns: int32, ascending in each row; values: never zero.
    """

    offsets: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    shape: tuple[int, int]

    @property
    def rows(self) -> np.ndarray:
        """The row of each value."""
        return np.repeat(np.arange(self.shape[0], dtype=np.int32), np.diff(self.offsets))

    def transposed(self) -> "Csr":
        """Return the compressed rows of the transposed matrix."""
        order = np.argsort(self.columns, kind="stable")
        count = np.bincount(self.columns, minlength=self.shape[1])
        return Csr(_offsets(count), self.rows[order], self.values[order], self.shape[::-1])

    def dense(self) -> np.ndarray:
        """Return the matrix with its zeros in place, as a view of column-major storage."""
        stored = aligned_empty(self.shape[::-1], self.values.dtype)
        stored.fill(0)
        stored[self.columns, self.rows] = self.values
        return stored.T


@dataclass(frozen=True)
class SparseInputs:
    """The operands of C = op(A)·op(B).

    `a` is A as stored: m x k, or k x m where the problem says transposed; `b` is op(B), k x n, a
    numpy view of column-major storage. Precisions that numpy lacks are float32 arrays holding
    values of that precision.
    """

    a: Csr
    b: np.ndarray
    notes: dict[str, str]


def inputs(problem: SparseGemm, precision: str, seed: int = 0) -> SparseInputs:
    """Draw the operands of `problem` in `precision`.

    A has exactly `problem.nonzeros` values; all sets of so many positions are equally likely.
    Floating-point values are uniform in [-h, h) with h = (9/(k·density))^(1/4), so that the entries
    of A·B have unit variance. int8 is uniform over -128..127. A value of A that is drawn, or
    rounded, to zero becomes INSTEAD_OF_ZERO, or 1 for int8: zeros are what a sparse matrix does not
    store.
    """
    m, n, k = problem.m, problem.n, problem.k
    shape = (k, m) if problem.a_transposed else (m, k)
    stored_b = (k, n) if problem.b_transposed else (n, k)
    count = problem.nonzeros
    if precision == "int8":
        values, b = int8((count,), seed, VALUES), int8(stored_b, seed, DENSE)
        values[values == 0] = 1
        drawn = "values and B uniform in -128..127"
    else:
        half_width = (9 / max(k * problem.density, 1)) ** 0.25
        values = floats((count,), precision, half_width, seed, VALUES)
        values[values == 0] = INSTEAD_OF_ZERO
        b = floats(stored_b, precision, half_width, seed, DENSE)
        drawn = f"values and B uniform in +-{half_width:.4g} = (9/(k·density))^(1/4)"
    return SparseInputs(
        a=_scattered(values, shape, seed),
        b=b if problem.b_transposed else b.T,
        notes={
            "inputs": f"{drawn}, none of A's zero; {count} values at random positions; raw bits"
            f" of SFC64, seed {seed}",
            "padding": "none",
        },
    )


def _scattered(values: np.ndarray, shape: tuple[int, int], seed: int) -> Csr:
    """Return a matrix with these values at random positions, row by row."""
    positions = _positions(shape[0] * shape[1], values.size, seed)
    rows, columns = np.divmod(positions, shape[1])
    count = np.bincount(rows, minlength=shape[0])
    return Csr(_offsets(count), columns.astype(np.int32), values, shape)


def _positions(cells: int, count: int, seed: int) -> np.ndarray:
    """Return `count` distinct numbers below `cells`, ascending, all sets of them equally likely.

    Each turn draws as many as are still missing and lets the repeated ones go, which is drawing
    one after another until there are enough. Where more than half of the cells are wanted the
    rest is drawn.
    """
    fewer = min(count, cells - count)
    drawn = np.zeros(cells, dtype=bool)
    missing, stream = fewer, POSITIONS
    while missing:
        words: np.ndarray = random_bits(8 * missing, seed, stream).view("<u8")
        drawn[words % np.uint64(cells)] = True
        missing, stream = fewer - int(np.count_nonzero(drawn)), stream + 1
    return np.flatnonzero(drawn if fewer == count else ~drawn)


def _offsets(count: np.ndarray) -> np.ndarray:
    """Return where each row starts and the last ends, from the number of values in each."""
    offsets = np.zeros(count.size + 1, dtype=np.int32)
    np.cumsum(count, out=offsets[1:])
    return offsets


def reference(
    problem: SparseGemm, drawn: SparseInputs, precision: str, operation: str
) -> Reference:
    """Return the judge of C for ``forward`` and ``dense_forward``, of CSR for ``conversion``."""
    if operation == "conversion":
        return ConversionReference(drawn.a)
    a = drawn.a.transposed() if problem.a_transposed else drawn.a
    return ProductReference(a, drawn.b, precision)


@dataclass(frozen=True)
class ProductReference:
    """op(A)·op(B), with `a` being op(A), computed exactly enough from the kernel's operands.

    The tolerance is that of `tolerance.allowed` for as many products as the fullest row of op(A)
    has: adding the products with A's zeros, as the dense operation does, rounds nothing.
    """

    a: Csr
    b: np.ndarray
    precision: str

    @property
    def shape(self) -> tuple[int, int]:
        """(m, n)."""
        return self.a.shape[0], self.b.shape[1]

    @cached_property
    def _terms(self) -> int:
        return int(np.diff(self.a.offsets).max())

    def everywhere(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed), both m x n; for small problems."""
        left, right = map(widened, (self.a.dense(), self.b))
        return self._judge(left @ right, left**2 @ right**2)

    def at(self, index: Index) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed) at the entries (rows, columns), one dot product each."""
        products = [self._products(*entry) for entry in zip(*index, strict=True)]
        sums = np.array([each.sum() for each in products])
        return self._judge(sums, np.array([(each**2).sum() for each in products]))

    def _products(self, row: int, column: int) -> np.ndarray:
        stored = slice(*self.a.offsets[row : row + 2])
        right = self.b[self.a.columns[stored], column]
        return widened(self.a.values[stored]) * widened(right)

    def _judge(self, expected: np.ndarray, squares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        wander = np.sqrt(squares)
        return expected, allowed(self.precision, self._terms, wander, np.abs(expected))


@dataclass(frozen=True)
class ConversionReference:
    """The compressed rows of A, as `laid_out` strings them together; nothing is rounded."""

    a: Csr

    @property
    def shape(self) -> tuple[int]:
        """Offsets, columns and values in a row of their own."""
        return (size_laid_out(self.a),)

    def everywhere(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed), the latter zeros."""
        expected = laid_out(self.a, self.a.offsets, self.a.columns, self.a.values)
        return expected, np.zeros_like(expected)

    def at(self, index: Index) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed) at the entries of that string."""
        expected, allowing = self.everywhere()
        return expected[index], allowing[index]


def size_laid_out(a: Csr) -> int:
    """Return how many numbers the compressed rows of A are."""
    return a.offsets.size + a.columns.size + a.values.size


def laid_out(a: Csr, offsets: np.ndarray, columns: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return what a conversion of `a` made, as float64: offsets, columns and values in a string.

    Not-a-number throughout where there are too many or too few of any: such an output is wrong
    as a whole.
    """
    sizes = (a.offsets.size, a.columns.size, a.values.size)
    if (offsets.size, columns.size, values.size) != sizes:
        return np.full(sum(sizes), np.nan)
    return np.concatenate([offsets, columns, values]).astype(np.float64)


def row_major(values: np.ndarray) -> np.ndarray:
    """Return a row-major copy, aligned as all operands are and in memory of the same making."""
    copy = aligned_empty(values.shape, values.dtype)
    copy[...] = values
    return copy


def layout_of_a(problem: SparseGemm, compressed: bool) -> str:
    """Return the note on how A is stored."""
    stored = "k x m" if problem.a_transposed else "m x k"
    how = "compressed rows with int32 positions" if compressed else "dense with its zeros"
    return f"A {how}, {stored}{'' if compressed else ', column-major'}"


def layout_of_b(problem: SparseGemm, order: str) -> str:
    """Return the note on how B and C lie, `order` being row-major or column-major."""
    if problem.n == 1:
        return "B and C vectors"
    if order == "row-major":
        return "B stored k x n and C, row-major"
    stored = "n x k" if problem.b_transposed else "k x n"
    return f"B stored {stored} and C, column-major"


def layout_note(problem: SparseGemm, compressed: bool, order: str) -> str:
    """Return the note on how A, B and C lie."""
    return f"{layout_of_a(problem, compressed)}; {layout_of_b(problem, order)}"
