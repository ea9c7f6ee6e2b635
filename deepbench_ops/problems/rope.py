"""Rotary position embedding of queries and keys (Su et al., RoFormer, 2021)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from deepbench_ops.problems.memory_bound import MemoryBound, Moved


@dataclass(frozen=True)
class Rope(MemoryBound):
    """Queries and keys of `batch` x heads x `length` x `size`, rotated by angles of the positions.

    Entries j and j + size/2 of a head are turned by position · 10000^(-2j/size), the pairing of
    GPT-NeoX and Llama as transformers stores it. Cosines and sines are tables of length x size/2.

    heads, kv_heads: of queries and of keys. start: the first position, above 0 in decoding.
    """

    family: ClassVar[str] = "rope"
    position: ClassVar[int] = 213
    heading: ClassVar[str] = "RoPE"
    id_pattern: ClassVar[str] = (
        r"rope_batch(?P<batch>\d+)_length(?P<length>\d+)_heads(?P<heads>\d+)"
        r"_kv(?P<kv_heads>\d+)_size(?P<size>\d+)(_start(?P<start>\d+))?"
    )
    operations: ClassVar[tuple[str, ...]] = ("forward", "backward")
    smallest: ClassVar[Mapping[str, int]] = {"size": 2, "start": 0}
    headline: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "modern": (
            "rope_batch1_length1024_heads32_kv8_size256",
            "rope_batch16_length1_heads80_kv8_size128_start10240",
        )
    }
    headline_reason: ClassVar[str] = "a prompt; the decoding of one token for each of 16 sequences"

    batch: Annotated[int, "sequences in the batch"]
    length: Annotated[int, "tokens of a sequence"]
    heads: Annotated[int, "heads of queries"]
    kv_heads: Annotated[int, "heads of keys, a divisor of the heads of queries"]
    size: Annotated[int, "numbers in a head, even"]
    start: Annotated[int, "position of the first token"] = 0

    @property
    def id(self) -> str:
        """Id such as rope_batch16_length1024_heads32_kv8_size128, with _start10240 for a start."""
        sizes = f"rope_batch{self.batch}_length{self.length}_heads{self.heads}_kv{self.kv_heads}"
        return f"{sizes}_size{self.size}" + (f"_start{self.start}" if self.start else "")

    @property
    def title(self) -> str:
        """Title such as "RoPE 16 x 1024 tokens, 32 heads of 128, 8 KV heads"."""
        start = f", from position {self.start}" if self.start else ""
        return (
            f"RoPE {self.batch} x {self.length} tokens, {self.heads} heads of {self.size},"
            f" {self.kv_heads} KV heads{start}"
        )

    @property
    def items(self) -> int:
        """Number of tokens."""
        return self.batch * self.length

    def impossible(self) -> str:
        """Reason why no such problem can exist; "" where it can."""
        if self.size % 2:
            return f"size is {self.size}: a head is rotated in pairs, write an even number"
        if self.heads % self.kv_heads:
            return (
                f"{self.heads} heads cannot be shared by {self.kv_heads} KV heads: write a divisor"
            )
        return ""

    @property
    def entries(self) -> int:
        """Count of numbers in queries and keys."""
        return self.items * (self.heads + self.kv_heads) * self.size

    def work(self, operation: str) -> float:
        """3 for each entry: four products and two sums for a pair, forward and backward."""
        return 3 * self.entries

    def moved(self, operation: str) -> Moved:
        """Queries, keys and both tables read, queries and keys written; backward the same for their
        gradients."""
        return Moved(self.entries + self.length * self.size, self.entries)
