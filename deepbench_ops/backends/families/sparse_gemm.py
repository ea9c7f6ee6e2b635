"""Products with a sparse matrix: operands in compressed rows (CSR), and references of the
outputs."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deepbench_ops.backends.kernel import Index, Reference, widened
from deepbench_ops.backends.tolerance import allowed
from deepbench_ops.problems.sparse_gemm import SparseGemm
from deepbench_ops.random_operands import aligned_empty, floats, int8, random_bits

SMALL = {"m": 61, "n": 53, "k": 131}
"""Odd sizes, which are no multiples of a vector or tile of a library. At sparsity 0.95 a row has
about six values."""

PROBE = {"m": 768, "n": 192, "k": 768}

VALUES, DENSE, POSITIONS = 0, 1, 16
"""Streams of random bits. POSITIONS is the first of one stream for each turn of drawing
positions."""

ZERO_REPLACEMENT = 0.25
"""Value that replaces a zero among the stored values; every precision has this number."""


@dataclass(frozen=True)
class Csr:
    """A matrix in compressed rows; row i has the values from offsets[i] to offsets[i + 1] - 1.

    offsets: rows + 1 numbers, int32. columns: int32, ascending in each row. values: never zero.
    """

    offsets: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    shape: tuple[int, int]

    @property
    def rows(self) -> np.ndarray:
        """Row of each value, int32."""
        return np.repeat(np.arange(self.shape[0], dtype=np.int32), np.diff(self.offsets))

    def transposed(self) -> "Csr":
        """Return the compressed rows of the transposed matrix."""
        order = np.argsort(self.columns, kind="stable")
        count = np.bincount(self.columns, minlength=self.shape[1])
        return Csr(_offsets(count), self.rows[order], self.values[order], self.shape[::-1])

    def dense(self) -> np.ndarray:
        """Return the matrix as a dense array, a view of column-major storage."""
        stored = aligned_empty(self.shape[::-1], self.values.dtype)
        stored.fill(0)
        stored[self.columns, self.rows] = self.values
        return stored.T


@dataclass(frozen=True)
class SparseInputs:
    """The operands of C = op(A)·op(B).

    `a` is A as stored: m x k, or k x m where the problem says transposed; `b` is op(B), k x n, a
    numpy view of column-major storage. In a precision that numpy lacks both are float32 with values
    of that precision.
    """

    a: Csr
    b: np.ndarray
    notes: dict[str, str]


def inputs(problem: SparseGemm, precision: str, seed: int = 0) -> SparseInputs:
    """Draw the operands of `problem` in `precision`.

    A has exactly `problem.nonzeros` values; all sets of as many positions are equally likely.
    Floating-point values are uniform in [-h, h) with h = (9/(k·density))^(1/4), which gives the
    entries of A·B unit variance. int8 values are uniform over -128..127. A zero among the values of
    A becomes ZERO_REPLACEMENT (1 for int8), since a sparse matrix stores no zeros.
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
        values[values == 0] = ZERO_REPLACEMENT
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

    Each turn draws as many numbers as are still missing and drops repeated ones. This is the same
    as drawing one number after another until there are enough. To get more than half of the cells
    it draws the cells that are left out.
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
    """Return the offsets of rows, and the end of the last one, from the number of values in
    each."""
    offsets = np.zeros(count.size + 1, dtype=np.int32)
    np.cumsum(count, out=offsets[1:])
    return offsets


def reference(
    problem: SparseGemm, drawn: SparseInputs, precision: str, operation: str
) -> Reference:
    """Return the reference of C for ``forward`` and ``dense_forward``, that of the compressed rows
    for ``conversion``."""
    if operation == "conversion":
        return ConversionReference(drawn.a)
    a = drawn.a.transposed() if problem.a_transposed else drawn.a
    return ProductReference(a, drawn.b, precision)


@dataclass(frozen=True)
class ProductReference:
    """Reference of op(A)·op(B), in float64 (int64 for int8); `a` is op(A), `b` is op(B).

    The tolerance is that of `tolerance.allowed` for the number of values in the fullest row of
    op(A). The dense operation also adds products with zeros, which have no rounding error.
    """

    a: Csr
    b: np.ndarray
    precision: str

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the output, (m, n)."""
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
    """Reference of the compressed rows of A, in one array as `concatenated` returns it.

    All allowed errors are zero.
    """

    a: Csr

    @property
    def shape(self) -> tuple[int]:
        """Shape of the array, (number of offsets, columns and values,)."""
        return (concatenated_size(self.a),)

    def everywhere(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed) of all entries."""
        expected = concatenated(self.a, self.a.offsets, self.a.columns, self.a.values)
        return expected, np.zeros_like(expected)

    def at(self, index: Index) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed) at some entries."""
        expected, allowing = self.everywhere()
        return expected[index], allowing[index]


def concatenated_size(a: Csr) -> int:
    """Return the number of offsets, columns and values of A together."""
    return a.offsets.size + a.columns.size + a.values.size


def concatenated(
    a: Csr, offsets: np.ndarray, columns: np.ndarray, values: np.ndarray
) -> np.ndarray:
    """Return the output of a conversion of `a` as one float64 array: offsets, columns and values.

    All entries are NaN if one of the three has a wrong length: the whole output is then wrong.
    """
    sizes = (a.offsets.size, a.columns.size, a.values.size)
    if (offsets.size, columns.size, values.size) != sizes:
        return np.full(sum(sizes), np.nan)
    return np.concatenate([offsets, columns, values]).astype(np.float64)


def row_major(values: np.ndarray) -> np.ndarray:
    """Return a row-major copy with the alignment and the allocator of all operands."""
    copy = aligned_empty(values.shape, values.dtype)
    copy[...] = values
    return copy


def layout_of_a(problem: SparseGemm, compressed: bool) -> str:
    """Return the note on the storage of A."""
    stored = "k x m" if problem.a_transposed else "m x k"
    how = "compressed rows with int32 positions" if compressed else "dense with its zeros"
    return f"A {how}, {stored}{'' if compressed else ', column-major'}"


def layout_of_b(problem: SparseGemm, order: str) -> str:
    """Return the note on the layout of B and C. order: "row-major" or "column-major"."""
    if problem.n == 1:
        return "B and C vectors"
    if order == "row-major":
        return "B stored k x n and C, row-major"
    stored = "n x k" if problem.b_transposed else "k x n"
    return f"B stored {stored} and C, column-major"


def layout_note(problem: SparseGemm, compressed: bool, order: str) -> str:
    """Return the note on the layout of A, B and C."""
    return f"{layout_of_a(problem, compressed)}; {layout_of_b(problem, order)}"
