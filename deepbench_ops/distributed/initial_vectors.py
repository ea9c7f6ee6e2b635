"""Initial vectors of the ranks, chosen so that the sum is exact and every rank can predict it.

Entries are random odd integers, scaled by a power of two, of so few bits that the sum over all
ranks fits into float32's 24: whatever the order of the additions, nothing is rounded, and an
entry that is off by anything is wrong. A rank's vector repeats a block of a prime number of
entries; every block begins with its own number. So a piece that went to the wrong place shows,
a vector takes no memory but its own, and filling or comparing one is about as fast as copying.
"""

import math
from functools import cache
from typing import NamedTuple

import numpy as np

from deepbench_ops.random_operands import random_bits

PERIOD = 65521
"""Entries of a block: a prime, so that no algorithm cuts vectors along it."""

SCALE = 2.0**-100
"""Summing a vector again and again multiplies it by the number of ranks: room to grow."""

MANTISSA_BITS = 24
LARGEST_EXPONENT = 127
UNIT_ROUNDOFF = 2.0**-24

ROWS = 8
"""Blocks compared at a time: the memory it takes does not grow with the vector."""


class Mismatch(NamedTuple):
    """The first entry that is not what it must be."""

    entry: int
    expected: float
    actual: float


class Pattern:
    """The vectors of `ranks` ranks of `elements` entries, drawn from `seed`."""

    def __init__(self, elements: int, ranks: int, seed: int = 0) -> None:
        self.elements = elements
        self.ranks = ranks
        self._seed = seed
        self._block = summed(ranks, seed)
        self._numbers = ranks * self._marks()

    @property
    def most_calls(self) -> int:
        """Number of sums in a row that stay finite, each `ranks` times the one before."""
        first = math.log2(SCALE) + MANTISSA_BITS
        return 1 + int((LARGEST_EXPONENT - first) / math.log2(max(self.ranks, 2)))

    def fill(self, values: np.ndarray, rank: int) -> None:
        """Write what this rank puts in."""
        block = (_integers(rank, self.ranks, self._seed) * SCALE).astype(np.float32)
        whole = self.elements // PERIOD * PERIOD
        values[:whole].reshape(-1, PERIOD)[:] = block
        values[whole:] = block[: self.elements - whole]
        values[::PERIOD] = self._marks() * SCALE

    def at(self, entries: np.ndarray) -> np.ndarray:
        """Return the sum at these entries, as float64."""
        numbers, places = np.divmod(entries, PERIOD)
        sums = np.where(places == 0, self._numbers[numbers], self._block[places])
        return np.asarray(sums * SCALE)

    def mismatch(self, values: np.ndarray, calls: int = 1) -> Mismatch | None:
        """Return the first wrong entry after so many sums in a row, None when all are right.

        Of a first sum nothing is rounded. In later ones, of equal numbers, each addition may round.
        """
        factor = SCALE * float(self.ranks) ** (calls - 1)
        allowed = UNIT_ROUNDOFF * self.ranks * (calls - 1)
        kind = np.float64 if allowed else np.float32
        block, numbers = ((sums * factor).astype(kind) for sums in (self._block, self._numbers))
        rows = np.tile(block, min(ROWS, len(numbers)))
        for first in range(0, self.elements, ROWS * PERIOD):
            actual = values[first : first + ROWS * PERIOD]
            expected = rows[: len(actual)]
            expected[::PERIOD] = numbers[first // PERIOD :][:ROWS]
            right = actual == expected if not allowed else _near(actual, expected, allowed)
            if not right.all():
                wrong = int(np.argmin(right))
                return Mismatch(first + wrong, float(expected[wrong]), float(actual[wrong]))
        return None

    def _marks(self) -> np.ndarray:
        """Return the beginnings of all blocks, the same on every rank: their numbers from 1 up."""
        blocks = -(-self.elements // PERIOD)
        return np.arange(blocks) % (2 ** (_bits(self.ranks) - 1) - 1) + 1


@cache
def summed(ranks: int, seed: int = 0) -> np.ndarray:
    """Return the sum of all ranks' blocks, which each of them needs and one can make for all."""
    return np.asarray(sum(_integers(rank, ranks, seed) for rank in range(ranks)))


def _integers(rank: int, ranks: int, seed: int) -> np.ndarray:
    """Return a rank's block: random odd integers of either sign."""
    drawn = random_bits(4 * PERIOD, seed, rank).view("<i4").astype(np.int64)
    return (drawn >> (32 - _bits(ranks))) | 1


def _bits(ranks: int) -> int:
    """Return how many bits an entry may have, so that the sum has a float32's."""
    return MANTISSA_BITS - 1 - math.ceil(math.log2(max(ranks, 2)))


def _near(actual: np.ndarray, expected: np.ndarray, allowed: float) -> np.ndarray:
    """Return where the difference is so small a part of what is expected."""
    with np.errstate(invalid="ignore"):
        return np.abs(actual - expected) <= allowed * np.abs(expected)
