"""Vectors of the ranks, chosen so that sums are exact and every rank can predict every result.

Entries are random odd integers, scaled by a power of two. Entries that are summed have so few bits
that the sum over all ranks fits into the significand (24 bits of float32, 8 of bfloat16). No order
of additions then rounds, and any difference is an error. Entries that are only moved use all bits.

A vector repeats a block of a prime number of entries, and every block begins with its own number.
So a piece at a wrong place is found, a vector needs no further memory, and to fill or compare it is
about as fast as a copy.
"""

import math
from functools import cache
from typing import NamedTuple

import numpy as np

from deepbench_ops.random_operands import random_bits

PERIOD = 65521
"""Number of entries of a block: a prime, so that no algorithm divides vectors at its multiples."""

SCALE = 2.0**-100
"""Factor on all entries. It is small because repeated sums in place multiply a vector by the number
of ranks each time."""

SIGNIFICAND = {"float32": 24, "bfloat16": 8}
"""Bits of the significand by precision, with the leading one."""

BLOCKS = 8
"""Number of blocks that are made or compared at a time, so that memory does not grow with
vectors."""

CHUNK_ENTRIES = BLOCKS * PERIOD
"""Number of entries that are made or compared at a time."""

OWN_STREAMS = 1000
"""First stream of random bits for vectors that are not summed; larger than any number of ranks."""


class Repeating:
    """A vector of integers times SCALE that repeats a block; every block begins with its own
    number.

    The number of block b is (first + step·b) modulo `numbers`, plus 1, times `factor`.
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
        """Return the entries from `start` to `end` - 1 as float32."""
        begin, count = start % PERIOD, end - start
        rows = np.tile(self._block, -(-(begin + count) // PERIOD))
        values = rows[begin : begin + count]
        place = -start % PERIOD
        blocks = np.arange((start + place) // PERIOD, -(-end // PERIOD))
        values[place::PERIOD] = self._marks(blocks)
        return values

    def at(self, entries: np.ndarray) -> np.ndarray:
        """Return the entries with these numbers as float64."""
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
        """Return a rank's vector for sums; block numbers are the same on all ranks."""
        block = integers(self._addend_bits, self._seed, rank)
        return Repeating(block, self._addend_numbers)

    def total(self) -> Repeating:
        """Return the sum of all ranks' vectors."""
        block = summed(self.ranks, self._seed, self._bits)
        return Repeating(block, self._addend_numbers, factor=self.ranks)

    def own(self, rank: int) -> Repeating:
        """Return a rank's vector that is moved; block numbers differ between ranks."""
        block = integers(self._bits + 1, self._seed, OWN_STREAMS + rank)
        return Repeating(block, 2**self._bits - 1, first=rank, step=self.ranks)

    @property
    def _addend_numbers(self) -> int:
        return int(2 ** (self._addend_bits - 1) - 1)


@cache
def summed(ranks: int, seed: int = 0, significand: int = SIGNIFICAND["float32"]) -> np.ndarray:
    """Return the sum of the blocks of all ranks, which is computed once for all of them."""
    bits = addend_bits(ranks, significand)
    return np.asarray(sum(integers(bits, seed, rank) for rank in range(ranks)))


def integers(bits: int, seed: int, stream: int) -> np.ndarray:
    """Return a block of random odd integers of both signs. bits: their size, with the sign."""
    drawn = random_bits(4 * PERIOD, seed, stream).view("<i4").astype(np.int64)
    return (drawn >> (32 - bits)) | 1


def addend_bits(ranks: int, significand: int) -> int:
    """Return the number of bits of an entry for which the sum over all ranks is exact."""
    return significand - 1 - math.ceil(math.log2(max(ranks, 2)))
