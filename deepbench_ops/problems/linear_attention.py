"""Linear attention: a state of fixed size for each head, which every token updates and reads."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from deepbench_ops.problems.memory_bound import MemoryBound, Moved

STATE_BYTES = 4
"""Bytes of a number of the state, which is float32 at every precision, as in models."""


@dataclass(frozen=True)
class LinearAttention(MemoryBound):
    """Tokens one after the other, each with query q, key k, value v and decay g of its head.

    The state S of a head is size x value_size. Rules of its update:

    - `gated` (Mamba-2, Dao and Gu, 2024): S = exp(g)·S + k·vᵀ, and the output is Sᵀ·q;
    - `gated_delta` (gated DeltaNet, Yang et al., 2024): S' = exp(g)·S, then
      S = S' + k·(rate·(v - S'ᵀ·k))ᵀ, and the output is Sᵀ·q / sqrt(size).

    heads: of queries and keys, each for value_heads/heads consecutive heads of values, which have a
    state each. length: tokens of a sequence, 1 in a step of decoding.
    """

    family: ClassVar[str] = "linear_attention"
    position: ClassVar[int] = 63
    id_pattern: ClassVar[str] = (
        r"linear_attention_(?P<rule>gated_delta|gated)_batch(?P<batch>\d+)_length(?P<length>\d+)"
        r"_heads(?P<heads>\d+)_values(?P<value_heads>\d+)_size(?P<size>\d+)x(?P<value_size>\d+)"
    )
    operations: ClassVar[tuple[str, ...]] = ("forward",)
    headline: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "modern": (
            "linear_attention_gated_delta_batch1_length1_heads16_values32_size128x128",
            "linear_attention_gated_delta_batch1_length128_heads16_values32_size128x128",
        )
    }
    headline_reason: ClassVar[str] = (
        "the rule of a Qwen3-Next layer in a step of decoding; the same in a prompt"
    )
    words: ClassVar[Mapping[str, tuple[str, ...]]] = {"rule": ("gated", "gated_delta")}

    rule: Annotated[str, "how a token updates the state"]
    batch: Annotated[int, "sequences in the batch"]
    length: Annotated[int, "tokens of a sequence"]
    heads: Annotated[int, "heads of queries and keys"]
    value_heads: Annotated[int, "heads of values, with a state each, a multiple of heads"]
    size: Annotated[int, "numbers of a query or key in a head"]
    value_size: Annotated[int, "numbers of a value in a head"]

    @property
    def id(self) -> str:
        """Id such as
        linear_attention_gated_delta_batch1_length1_heads16_values32_size128x128."""
        return (
            f"linear_attention_{self.rule}_batch{self.batch}_length{self.length}"
            f"_heads{self.heads}_values{self.value_heads}_size{self.size}x{self.value_size}"
        )

    @property
    def title(self) -> str:
        """Title such as "gated delta rule 1 x 128 tokens, 32 states of 128 x 128 each, 16 heads of
        keys"."""
        return (
            f"{'gated delta rule' if self.corrects else 'gated linear attention'}"
            f" {self.batch} x {self.length} tokens, {self.value_heads} states of"
            f" {self.size} x {self.value_size} each, {self.heads} heads of keys"
        )

    @property
    def corrects(self) -> bool:
        """Whether an update replaces the value that the state holds for a key (delta rule)."""
        return self.rule == "gated_delta"

    @property
    def items(self) -> int:
        """Number of tokens."""
        return self.batch * self.length

    def impossible(self) -> str:
        """Reason for an unknown rule, or for heads that do not divide; "" where there is none."""
        if self.rule not in self.words["rule"]:
            return f"the rule {self.rule!r} is none of {', '.join(self.words['rule'])}"
        if self.value_heads % self.heads:
            return (
                f"{self.value_heads} heads of values are no multiple of {self.heads} heads of keys"
            )
        return ""

    @property
    def state_size(self) -> int:
        """Count of numbers in all states."""
        return self.batch * self.value_heads * self.size * self.value_size

    def multiplied(self, name: str) -> str:
        """Return float32: kernels compute in it at every precision, as with the states."""
        return "float32"

    def work(self, operation: str) -> float:
        """For each token and number of its states 5: decay, product and sum of the update, product
        and sum of the output; the delta rule 7, since it also reads the state for the key.

        Work that is done once for a head, such as exp, is left out.
        """
        return (7 if self.corrects else 5) * self.length * self.state_size

    def moved(self, operation: str) -> Moved:
        """Queries, keys, values, decays and rates read, outputs written, and the states read and
        written once, in float32."""
        values = self.value_heads * self.value_size
        scalars = self.value_heads * (2 if self.corrects else 1)
        each = 2 * self.heads * self.size + values + scalars
        return Moved(
            self.items * each, self.items * values, other_bytes=2 * STATE_BYTES * self.state_size
        )
