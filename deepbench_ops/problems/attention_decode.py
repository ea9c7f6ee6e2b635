"""Attention in a decoding step: one or a few new tokens attend to all tokens before them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from deepbench_ops.problems.attention import FORCED_FORWARD, in_words, undivided_heads
from deepbench_ops.problems.problem import MODERN_SETS, Problem


@dataclass(frozen=True)
class AttentionDecode(Problem):
    """o = softmax(q·kᵀ / sqrt(d)) · v for sq queries and a cache of skv keys and values.

    Sizes as in `Attention`. As in the sources, each of several queries sees all keys. With `latent`
    a value is the first dv numbers of its key, and the cache has keys only. This is latent
    attention in the form that projects queries and outputs instead of keys.
    """

    family: ClassVar[str] = "attention_decode"
    position: ClassVar[int] = 62
    id_pattern: ClassVar[str] = (
        r"attention_decode_b(?P<b>\d+)_h(?P<hq>\d+)_kv(?P<hkv>\d+)_q(?P<sq>\d+)_s(?P<skv>\d+)"
        r"_d(?P<d>\d+)_v(?P<dv>\d+)(?P<latent>_latent)?"
    )
    listed_in: ClassVar[tuple[str, ...]] = MODERN_SETS
    operations: ClassVar[tuple[str, ...]] = ("forward", *FORCED_FORWARD)
    precisions: ClassVar[tuple[str, ...]] = ("float32", "tf32", "bfloat16", "float16")
    headline: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "modern": (
            "attention_decode_b16_h64_kv8_q1_s1024_d128_v128",
            "attention_decode_b16_h5_kv1_q1_s8190_d128_v128",
        ),
    }
    headline_reason: ClassVar[str] = (
        "a step of a language model of 70 billion parameters; a rank of eight with a long cache"
    )

    b: Annotated[int, "sequences in the batch"]
    hq: Annotated[int, "heads of queries"]
    hkv: Annotated[int, "heads of keys and values, a divisor of hq"]
    sq: Annotated[int, "queries of a sequence"]
    skv: Annotated[int, "keys and values in the cache of a sequence"]
    d: Annotated[int, "numbers of a query or key in a head"]
    dv: Annotated[int, "numbers of a value in a head"]
    latent: Annotated[bool, "a value is the first dv numbers of its key"] = False

    def impossible(self) -> str:
        """Reason for heads that do not divide, fewer keys than queries, or values longer than
        keys."""
        if self.skv < self.sq:
            return f"a cache of {self.skv} tokens is shorter than the {self.sq} queries in it"
        if self.latent and self.dv > self.d:
            return f"values of {self.dv} numbers are no part of keys of {self.d}"
        return undivided_heads(self)

    @property
    def id(self) -> str:
        """Id such as attention_decode_b16_h64_kv8_q1_s1024_d128_v128."""
        return (
            f"attention_decode_b{self.b}_h{self.hq}_kv{self.hkv}_q{self.sq}_s{self.skv}"
            f"_d{self.d}_v{self.dv}{'_latent' if self.latent else ''}"
        )

    @property
    def title(self) -> str:
        """Title such as "attention 64 heads of 128, 8 KV heads, 1 x 1024, batch 16, from a
        cache"."""
        return f"{in_words(self)}, from a {'latent ' if self.latent else ''}cache"

    @property
    def causal(self) -> bool:
        """False: every query sees all keys."""
        return False

    @property
    def flops(self) -> int:
        """2·b·hq·sq·skv·(d + dv), as in `Attention`."""
        return 2 * self.b * self.hq * self.sq * self.skv * (self.d + self.dv)

    @property
    def items(self) -> int:
        """b·sq, the number of tokens in the step."""
        return self.b * self.sq

    def traffic(self) -> tuple[int, int]:
        """q and the cache read once, o written once. A latent cache has keys only."""
        tokens = self.b * self.hkv * self.skv
        cache = tokens * (self.d if self.latent else self.d + self.dv)
        queries = self.b * self.hq * self.sq
        return queries * self.d + cache, queries * self.dv
