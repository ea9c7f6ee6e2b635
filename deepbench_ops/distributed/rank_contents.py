"""Contents of every rank before and after a collective operation, and their comparison."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from deepbench_ops.distributed import collectives
from deepbench_ops.distributed.initial_vectors import (
    CHUNK_ENTRIES,
    SCALE,
    SIGNIFICAND,
    Piece,
    Vectors,
)

STORED: Mapping[str, np.dtype] = {"float32": np.dtype(np.float32), "bfloat16": np.dtype(np.uint16)}
"""Types of arrays in the host's memory. numpy has no bfloat16; its bits are stored as uint16."""

LARGEST_EXPONENT = 127
"""Largest exponent of float32 and of bfloat16."""

HALF = np.uint32(16)
"""Number of bits by which to shift a float32; bfloat16 is its upper half."""


class Mismatch(NamedTuple):
    """The first wrong entry of a result."""

    entry: int
    expected: float
    actual: float


class Contents:
    """Operands and results of a collective operation on a vector of `elements` numbers."""

    def __init__(
        self, family: str, elements: int, ranks: int, precision: str = "float32", seed: int = 0
    ) -> None:
        self.collective = collectives.load(family)
        self.elements = elements
        self.ranks = ranks
        self.precision = precision
        self._vectors = Vectors(ranks, precision, seed)

    @property
    def stored_type(self) -> np.dtype:
        """Type of the arrays."""
        return STORED[self.precision]

    def operand_size(self, rank: int = 0) -> int:
        """Return the number of entries of a rank's operand."""
        return _size(self.collective.initial(self._vectors, self.elements, rank))

    def result_size(self, rank: int = 0) -> int:
        """Return the number of entries of a rank's result."""
        return _size(self.collective.expected(self._vectors, self.elements, rank))

    @property
    def most_calls(self) -> int | None:
        """Largest number of consecutive calls whose results are finite, None for any number.

        Each sum in place is the previous one times the number of ranks.
        """
        if not self.collective.IN_PLACE:
            return None
        first = math.log2(SCALE) + SIGNIFICAND[self.precision]
        return 1 + int((LARGEST_EXPONENT - first) / math.log2(max(self.ranks, 2)))

    def fill(self, operand: np.ndarray, rank: int) -> None:
        """Write the initial values of a rank's operand."""
        for start, values in _chunks(self.collective.initial(self._vectors, self.elements, rank)):
            operand[start : start + len(values)] = narrowed(values, self.precision)

    def spoil(self, result: np.ndarray) -> None:
        """Fill a result with invalid values, so that one that is not written does not pass."""
        result[:] = narrowed(np.full(1, np.nan, np.float32), self.precision)

    def at(self, entries: np.ndarray, rank: int = 0) -> np.ndarray:
        """Return the correct values of a rank's result at some entries, as float64."""
        found = np.full(len(entries), np.nan)
        start = 0
        for piece in self.collective.expected(self._vectors, self.elements, rank):
            inside = (start <= entries) & (entries < start + piece.length)
            found[inside] = piece.vector.at(entries[inside] - start + piece.first)
            start += piece.length
        return found

    def mismatch(self, result: np.ndarray, calls: int = 1, rank: int = 0) -> Mismatch | None:
        """Return the first wrong entry after `calls` consecutive calls, None if all are correct.

        The first sum is exact. In later sums in place each addition may round.
        """
        later = calls - 1 if self.collective.IN_PLACE else 0
        factor = float(self.ranks) ** later
        allowed = 2.0 ** -SIGNIFICAND[self.precision] * self.ranks * later
        for start, values in _chunks(self.collective.expected(self._vectors, self.elements, rank)):
            actual = as_float32(result[start : start + len(values)])
            expected = values.astype(np.float64) * factor if later else values
            right = actual == expected if not later else _near(actual, expected, allowed)
            if not right.all():
                wrong = int(np.argmin(right))
                return Mismatch(start + wrong, float(expected[wrong]), float(actual[wrong]))
        return None


def narrowed(values: np.ndarray, precision: str) -> np.ndarray:
    """Return float32 values in the stored type, of their shape; the precision must be able to hold
    them exactly."""
    if precision == "float32":
        return values
    return (values.view(np.uint32) >> HALF).astype(np.uint16)


def as_float32(stored: np.ndarray) -> np.ndarray:
    """Return stored values as float32, of their shape."""
    if stored.dtype == np.float32:
        return stored
    return (stored.astype(np.uint32) << HALF).view(np.float32)


def _size(pieces: Sequence[Piece]) -> int:
    return sum(piece.length for piece in pieces)


def _chunks(pieces: Sequence[Piece]) -> Iterator[tuple[int, np.ndarray]]:
    """Yield the values of the pieces in parts of limited size, each with its position."""
    place = 0
    for vector, first, length in pieces:
        for start in range(first, first + length, CHUNK_ENTRIES):
            values = vector.between(start, min(start + CHUNK_ENTRIES, first + length))
            yield place, values
            place += len(values)


def _near(actual: np.ndarray, expected: np.ndarray, allowed: float) -> np.ndarray:
    """Return where the difference, divided by the expected value, is at most `allowed`."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.abs(actual - expected) <= allowed * np.abs(expected))
