"""Caches of keys and values: new tokens with their places, and references of the stored values."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deepbench_ops.backends.kernel import Index, Reference, widened
from deepbench_ops.problems.cache_store import CacheStore
from deepbench_ops.random_operands import floats, random_bits

SMALL = {"batch": 3, "heads": 2, "head_size": 8, "held": 21, "added": 13, "block": 8}
PROBE = {"batch": 4, "heads": 4, "head_size": 64, "held": 256, "added": 256, "block": 64}

KEYS, VALUES, HELD, ORDER = 0, 1, 2, 3
"""Streams of random bits."""

STORED_VALUES = "values"
UNTOUCHED = "untouched places"
"""Names of further outputs: values at the new places, and places where nothing is to be written."""

UNTOUCHED_LIMIT = 256
"""Largest number of untouched places next to new tokens that are compared."""


@dataclass(frozen=True)
class CacheInputs:
    """Operands: keys and values of new tokens, and the places in the cache where they go.

    The blocks of a sequence lie in random order in the cache, which has one block more than its
    sequences need. At first each block has the same tokens, `block_held`. In a precision that numpy
    lacks the arrays are float32 with values of that precision.
    """

    problem: CacheStore
    precision: str
    seed: int

    @cached_property
    def keys(self) -> np.ndarray:
        """Keys of the new tokens, sequence after sequence: tokens x heads x head_size."""
        return self._drawn(self.problem.tokens, KEYS)

    @cached_property
    def values(self) -> np.ndarray:
        """Values of the new tokens, in the order of the keys: tokens x heads x head_size."""
        return self._drawn(self.problem.tokens, VALUES)

    @cached_property
    def block_held(self) -> np.ndarray:
        """Initial contents of each block, of keys as of values: block x heads x head_size."""
        return self._drawn(self.problem.block, HELD)

    @property
    def blocks(self) -> int:
        """Number of blocks of the cache."""
        return self.problem.batch * self.problem.blocks_each + 1

    @cached_property
    def places(self) -> np.ndarray:
        """Place of each new token, int64: number of its block x size of a block + place inside."""
        p = self.problem
        bits = random_bits(8 * self.blocks, self.seed, ORDER).view("<u8")
        order = np.argsort(bits, kind="stable")[: p.batch * p.blocks_each]
        table = order.reshape(p.batch, p.blocks_each)
        at = p.held + np.arange(p.added)
        return (table[:, at // p.block] * p.block + at % p.block).reshape(-1).astype(np.int64)

    @cached_property
    def untouched(self) -> np.ndarray:
        """Places that must not be written: some next to new tokens, and a sample of all others."""
        size = self.blocks * self.problem.block
        near = np.concatenate([self.places - 1, self.places + 1])
        free = np.setdiff1d(near[(near >= 0) & (near < size)], self.places)
        written = np.zeros(size, bool)
        written[self.places] = True
        others = np.flatnonzero(~written)
        return np.union1d(free[:UNTOUCHED_LIMIT], others[:: max(1, others.size // 16)])

    @property
    def notes(self) -> dict[str, str]:
        """Notes for the record: distribution and layout of the operands."""
        p = self.problem
        return {
            "inputs": f"uniform in ±1, raw bits of SFC64, seed {self.seed}; at first each block"
            " holds the same drawn tokens",
            "layout": f"two caches of {self.blocks} blocks x {p.block} tokens x heads x head size,"
            " blocks of a sequence in random order, places in int64",
            "padding": "none",
        }

    def _drawn(self, tokens: int, stream: int) -> np.ndarray:
        shape = (tokens, self.problem.heads, self.problem.head_size)
        return floats(shape, self.precision, 1.0, self.seed, stream)


def inputs(problem: CacheStore, precision: str, seed: int = 0) -> CacheInputs:
    """Return the operands of `problem` in `precision`."""
    return CacheInputs(problem, precision, seed)


def reference(
    problem: CacheStore, drawn: CacheInputs, precision: str, operation: str
) -> dict[str, Reference]:
    """Return the references of keys and of values at the new places, and of the untouched places.

    The third output has the keys at all untouched places, then the values at these places.
    """
    held = drawn.block_held[drawn.untouched % problem.block]
    return {
        "": CopyReference(drawn.keys),
        STORED_VALUES: CopyReference(drawn.values),
        UNTOUCHED: CopyReference(np.concatenate([held, held])),
    }


@dataclass(frozen=True)
class CopyReference:
    """Reference of numbers that must be copied exactly."""

    expected: np.ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the output."""
        return self.expected.shape

    def everywhere(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed) of all entries; all allowed errors are zero."""
        found = widened(self.expected)
        return found, np.zeros_like(found)

    def at(self, index: Index) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed) at some entries."""
        found = widened(self.expected[index])
        return found, np.zeros_like(found)


def memory_needed(problem: CacheStore, operation: str, execution: str) -> float:
    """Return the bytes of both caches in float32, and of the tokens."""
    places = (problem.batch * problem.blocks_each + 1) * problem.block + 2 * problem.tokens
    return 2 * 4 * places * problem.heads * problem.head_size
