"""Storing keys and values of new tokens in a cache that is divided into blocks."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from deepbench_ops.problems.precision import precision
from deepbench_ops.problems.problem import MODERN_SETS, Problem

INDEX_BYTES = 8
"""Bytes of the place of a token, a 64-bit integer."""


@dataclass(frozen=True)
class CacheStore(Problem):
    """Keys and values of `added` tokens, written after `held` older ones of each sequence.

    Keys and values have `heads` heads of `head_size` numbers. The cache consists of blocks of
    `block` tokens. The blocks of a sequence can be anywhere, and the places of its tokens are
    given.
    """

    family: ClassVar[str] = "cache_store"
    position: ClassVar[int] = 160
    id_pattern: ClassVar[str] = (
        r"cache_b(?P<batch>\d+)_h(?P<heads>\d+)_d(?P<head_size>\d+)_held(?P<held>\d+)"
        r"_added(?P<added>\d+)_block(?P<block>\d+)"
    )
    listed_in: ClassVar[tuple[str, ...]] = MODERN_SETS
    precisions: ClassVar[tuple[str, ...]] = ("float32", "bfloat16", "float16")
    smallest: ClassVar[Mapping[str, int]] = {"held": 0}
    headline: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "modern": (
            "cache_b16_h8_d128_held10240_added1_block512",
            "cache_b1_h8_d128_held0_added2048_block512",
        ),
    }
    headline_reason: ClassVar[str] = (
        "one token each of many sequences, rows far apart; a prompt, in whole blocks "
    )

    batch: Annotated[int, "sequences in the batch"]
    heads: Annotated[int, "heads of keys and values"]
    head_size: Annotated[int, "numbers of a key or value in a head"]
    held: Annotated[int, "tokens of a sequence that are in the cache already"]
    added: Annotated[int, "tokens of a sequence that are written"]
    block: Annotated[int, "tokens in a block of the cache"]

    @property
    def id(self) -> str:
        """Id such as cache_b16_h8_d128_held10240_added1_block512."""
        return (
            f"cache_b{self.batch}_h{self.heads}_d{self.head_size}_held{self.held}"
            f"_added{self.added}_block{self.block}"
        )

    @property
    def title(self) -> str:
        """Title such as "cache of keys and values, 8 heads of 128, 16 sequences of 10240, 1
        token more"."""
        more = "1 token more" if self.added == 1 else f"{self.added} tokens more"
        sequences = "1 sequence" if self.batch == 1 else f"{self.batch} sequences"
        return (
            f"cache of keys and values, {self.heads} heads of {self.head_size}, {sequences} of"
            f" {self.held}, {more}"
        )

    @property
    def tokens(self) -> int:
        """Number of new tokens of all sequences."""
        return self.batch * self.added

    @property
    def blocks_each(self) -> int:
        """Number of blocks of one sequence."""
        return -(-(self.held + self.added) // self.block)

    @property
    def flops(self) -> int:
        """0: nothing is computed."""
        return 0

    @property
    def items(self) -> int:
        """Number of new tokens."""
        return self.tokens

    def traffic(self) -> tuple[int, int]:
        """Keys and values of the new tokens, read and written."""
        each = 2 * self.tokens * self.heads * self.head_size
        return each, each

    def bytes(self, name: str) -> float:
        """Keys, values and places of the new tokens read, keys and values written."""
        weight = precision(name)
        read, written = self.traffic()
        moved = read * weight.input_bytes + written * weight.output_bytes
        return moved + INDEX_BYTES * self.tokens
