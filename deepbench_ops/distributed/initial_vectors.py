"""Vectors of the ranks, chosen so that sums are exact and every rank can predict every result.

Entries are random odd integers, scaled by a power of two. Those that are summed have so few bits
that the sum over all ranks fits into the significand (24 bits of float32, 8 of bfloat16): whatever
the order of the additions, nothing is rounded, and an entry that is off by anything is wrong. Those
that are only moved use all bits. A vector repeats a block of a prime number of entries; every block
begins with its own number. So a piece that went to the wrong place shows, a vector takes no memory
but its own, and filling or comparing one is about as fast as copying.
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

SIGNIFICAND = {"float32": 24, "bfloat16": 8}
"""Bits of each precision, the leading one included."""

BLOCKS = 8
"""Blocks made or compared at a time: the memory it takes does not grow with the vector."""

MOST = BLOCKS * PERIOD
"""Entries made or compared at a time."""

OWN_STREAMS = 1000
"""First stream of random bits of vectors that are not summed: more than there are ranks."""


class Repeating:
    """Integers times SCALE that repeat a block; every block begins with its own number.

    Of block b that number is (first + step·b) modulo `numbers`, plus 1, times `factor`.
    """

    def __init__(
        self, block: np.ndarray, numbers: int, first: int = 0, step: int = 1, factor: int = 1
    ) -> None:
        self._block = (block * SCALE).astype(np.float32)
        self._numbers = numbers
        self._first = first
        self._step = step
        self._factor = factor

    def between(self, start: int, end: int) -> np.ndarray:
        """Return the entries from `start` up to, not including, `end`, as float32."""
        begin, count = start % PERIOD, end - start
        rows = np.tile(self._block, -(-(begin + count) // PERIOD))
        values = rows[begin : begin + count]
        place = -start % PERIOD
        blocks = np.arange((start + place) // PERIOD, -(-end // PERIOD))
        values[place::PERIOD] = self._marks(blocks)
        return values

    def at(self, entries: np.ndarray) -> np.ndarray:
        """Return single entries, as float64."""
        blocks, places = np.divmod(entries, PERIOD)
        return np.where(places == 0, self._marks(blocks), self._block[places].astype(np.float64))

    def _marks(self, blocks: np.ndarray) -> np.ndarray:
        numbers = (self._first + self._step * blocks) % self._numbers + 1
        return np.asarray(numbers * self._factor * SCALE)


class Piece(NamedTuple):
    """`length` entries of a vector from entry `first` on."""

    vector: Repeating
    first: int
    length: int


class Vectors:
    """All vectors that `ranks` ranks need at a precision, drawn from `seed`."""

    def __init__(self, ranks: int, precision: str = "float32", seed: int = 0) -> None:
        self.ranks = ranks
        self._seed = seed
        self._bits = SIGNIFICAND[precision]
        self._addend_bits = addend_bits(ranks, self._bits)

    def addend(self, rank: int) -> Repeating:
        """Return a rank's vector for sums; the numbers of the blocks are the same on all ranks."""
        block = integers(self._addend_bits, self._seed, rank)
        return Repeating(block, self._addend_numbers)

    def total(self) -> Repeating:
        """Return the sum of all ranks' vectors."""
        block = summed(self.ranks, self._seed, self._bits)
        return Repeating(block, self._addend_numbers, factor=self.ranks)

    def own(self, rank: int) -> Repeating:
        """Return a rank's vector to be moved; no two ranks number their blocks alike."""
        block = integers(self._bits + 1, self._seed, OWN_STREAMS + rank)
        return Repeating(block, 2**self._bits - 1, first=rank, step=self.ranks)

    @property
    def _addend_numbers(self) -> int:
        return int(2 ** (self._addend_bits - 1) - 1)


@cache
def summed(ranks: int, seed: int = 0, significand: int = SIGNIFICAND["float32"]) -> np.ndarray:
    """Return the sum of all ranks' blocks, which each of them needs and one can make for all."""
    bits = addend_bits(ranks, significand)
    return np.asarray(sum(integers(bits, seed, rank) for rank in range(ranks)))


def integers(bits: int, seed: int, stream: int) -> np.ndarray:
    """Return a block of random odd integers of either sign, of so many bits with the sign."""
    drawn = random_bits(4 * PERIOD, seed, stream).view("<i4").astype(np.int64)
    return (drawn >> (32 - bits)) | 1


def addend_bits(ranks: int, significand: int) -> int:
    """Return how many bits an entry may have, so that the sum over all ranks is exact."""
    return significand - 1 - math.ceil(math.log2(max(ranks, 2)))
