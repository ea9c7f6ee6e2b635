"""Caches of keys and values: new tokens with their places, and the judges of what is stored."""

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

MOST_UNTOUCHED = 256


@dataclass(frozen=True)
class CacheInputs:
    """keys, values: tokens x heads x head_size; places: of each token in the cache, int64.

    The cache has blocks in an order of their own, and one more than its sequences need. At first
    each block holds the same tokens, `block_held`. Precisions that numpy lacks are float32 arrays.
    """

    problem: CacheStore
    precision: str
    seed: int

    @cached_property
    def keys(self) -> np.ndarray:
        """Keys of the new tokens, by sequences."""
        return self._drawn(self.problem.tokens, KEYS)

    @cached_property
    def values(self) -> np.ndarray:
        """Their values."""
        return self._drawn(self.problem.tokens, VALUES)

    @cached_property
    def block_held(self) -> np.ndarray:
        """The tokens that each block holds at first, as keys and as values: block x heads x
        head_size."""
        return self._drawn(self.problem.block, HELD)

    @property
    def blocks(self) -> int:
        """Blocks of the cache."""
        return self.problem.batch * self.problem.blocks_each + 1

    @cached_property
    def places(self) -> np.ndarray:
        """Place of each new token: its block's number times the block's size, and where in it."""
        p = self.problem
        bits = random_bits(8 * self.blocks, self.seed, ORDER).view("<u8")
        order = np.argsort(bits, kind="stable")[: p.batch * p.blocks_each]
        table = order.reshape(p.batch, p.blocks_each)
        at = p.held + np.arange(p.added)
        return (table[:, at // p.block] * p.block + at % p.block).reshape(-1).astype(np.int64)

    @cached_property
    def untouched(self) -> np.ndarray:
        """Places next to new tokens that are not to be written, and some of the spare block."""
        size = self.blocks * self.problem.block
        near = np.concatenate([self.places - 1, self.places + 1])
        free = np.setdiff1d(near[(near >= 0) & (near < size)], self.places)
        written = np.zeros(size, bool)
        written[self.places] = True
        others = np.flatnonzero(~written)
        return np.union1d(free[:MOST_UNTOUCHED], others[:: max(1, others.size // 16)])

    @property
    def notes(self) -> dict[str, str]:
        """How they are drawn, and how they lie."""
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
    """Return the judges of keys and values at the new places, and of untouched places.

    Of the latter the keys come first and the values behind them.
    """
    held = drawn.block_held[drawn.untouched % problem.block]
    return {
        "": CopyReference(drawn.keys),
        STORED_VALUES: CopyReference(drawn.values),
        UNTOUCHED: CopyReference(np.concatenate([held, held])),
    }


@dataclass(frozen=True)
class CopyReference:
    """Numbers that must come out as they went in."""

    expected: np.ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the numbers."""
        return self.expected.shape

    def everywhere(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed), the latter zeros."""
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
