"""Attention of many queries at once: training, the prompt of a language model, images."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from deepbench_ops.problems.precision import precision
from deepbench_ops.problems.problem import MODERN_SETS, Problem

IMPLEMENTATIONS = {
    "flash": "flash",
    "memory_efficient": "memory-efficient",
    "cudnn": "cuDNN",
    "math": "math",
}
"""Implementations that users of some frameworks can choose, by the start of their operations."""

FORCED_FORWARD = {f"{start}_forward": name for start, name in IMPLEMENTATIONS.items()}
FORCED = {
    **FORCED_FORWARD,
    **{f"{start}_backward": name for start, name in IMPLEMENTATIONS.items()},
}
"""Operations that are a pass by one implementation, and its name."""


def is_backward(operation: str) -> bool:
    """Return whether an operation of attention computes gradients, by any implementation."""
    return operation.endswith("backward")


@dataclass(frozen=True)
class Attention(Problem):
    """o = softmax(q·kᵀ / sqrt(d)) · v for each batch item and query head.

    b: batch; hq: query heads; hkv: heads of keys and values, each for hq/hkv consecutive query
    heads; sq: queries; skv: keys and values; d: size of a head of q and k; dv: size of a head of v
    and o. With `causal` the last query sees all keys, and each query before sees one key fewer.
    """

    family: ClassVar[str] = "attention"
    position: ClassVar[int] = 61
    id_pattern: ClassVar[str] = (
        r"attention_b(?P<b>\d+)_h(?P<hq>\d+)_kv(?P<hkv>\d+)_q(?P<sq>\d+)_s(?P<skv>\d+)"
        r"_d(?P<d>\d+)_v(?P<dv>\d+)(?P<causal>_causal)?"
    )
    listed_in: ClassVar[tuple[str, ...]] = MODERN_SETS
    operations: ClassVar[tuple[str, ...]] = ("forward", "backward", *FORCED)
    precisions: ClassVar[tuple[str, ...]] = ("float32", "tf32", "bfloat16", "float16")
    latent: ClassVar[bool] = False
    """Whether a value is a part of its key; in `AttentionDecode` it is a size of the problem."""
    headline: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "modern": (
            "attention_b1_h64_kv8_q1024_s1024_d128_v128_causal",
            "attention_b20_h16_kv16_q384_s384_d64_v64",
        ),
    }
    headline_reason: ClassVar[str] = (
        "the prompt of a language model, causal with grouped queries; an encoder, with neither"
    )

    b: Annotated[int, "sequences in the batch"]
    hq: Annotated[int, "heads of queries"]
    hkv: Annotated[int, "heads of keys and values, a divisor of hq"]
    sq: Annotated[int, "queries of a sequence"]
    skv: Annotated[int, "keys and values of a sequence"]
    d: Annotated[int, "numbers of a query or key in a head"]
    dv: Annotated[int, "numbers of a value in a head"]
    causal: Annotated[bool, "the last query sees all keys, each query before it one fewer"] = False

    def impossible(self) -> str:
        """Reason for heads that do not divide, or a causal query that would see no key."""
        if self.causal and self.skv < self.sq:
            return f"{self.sq} causal queries need as many keys, not {self.skv}"
        return undivided_heads(self)

    @property
    def id(self) -> str:
        """Id such as attention_b1_h64_kv8_q1024_s1024_d128_v128_causal."""
        return (
            f"attention_b{self.b}_h{self.hq}_kv{self.hkv}_q{self.sq}_s{self.skv}"
            f"_d{self.d}_v{self.dv}{'_causal' if self.causal else ''}"
        )

    @property
    def title(self) -> str:
        """Title such as "attention 32 heads of 128, 8 KV heads, 2048 x 2048, causal"."""
        return in_words(self) + (", causal" if self.causal else "")

    @property
    def pairs(self) -> int:
        """Number of pairs of a query and a key that it sees."""
        hidden = self.sq * (self.sq - 1) // 2 if self.causal else 0
        return self.sq * self.skv - hidden

    @property
    def flops(self) -> int:
        """2·b·hq·pairs·(d + dv): q·kᵀ and p·v of the pairs that are not masked.

        The softmax is not counted, as in the FlashAttention papers, which count half of all pairs
        of a causal problem where this counts the pairs exactly.
        """
        return 2 * self.b * self.hq * self.pairs * (self.d + self.dv)

    @property
    def items(self) -> int:
        """b·sq, the number of queries."""
        return self.b * self.sq

    def flops_of(self, operation: str) -> float:
        """Backward 2·b·hq·pairs·(3d + 2dv): q·kᵀ once more, and dv, dp, dq and dk.

        2.5 times the forward pass where d = dv, as the FlashAttention-2 paper (section 4.1) counts.
        """
        if is_backward(operation):
            return 2 * self.b * self.hq * self.pairs * (3 * self.d + 2 * self.dv)
        return super().flops_of(operation)

    def traffic(self) -> tuple[int, int]:
        """q, k and v read once, o written once."""
        sizes = self.elements
        return sizes["q"] + sizes["k"] + sizes["v"], sizes["o"]

    def bytes_of(self, name: str, operation: str) -> float:
        """Backward: q, k, v and the gradient of o read, the gradients of q, k and v written.

        An implementation that reads o, or sums of the forward pass, moves more.
        """
        if not is_backward(operation):
            return self.bytes(name)
        weight, sizes = precision(name), self.elements
        operands = sizes["q"] + sizes["k"] + sizes["v"]
        return (operands + sizes["o"]) * weight.input_bytes + operands * weight.output_bytes

    @property
    def elements(self) -> dict[str, int]:
        """Elements of q, k, v and o."""
        return {
            "q": self.b * self.hq * self.sq * self.d,
            "k": self.b * self.hkv * self.skv * self.d,
            "v": self.b * self.hkv * self.skv * self.dv,
            "o": self.b * self.hq * self.sq * self.dv,
        }


def undivided_heads(problem: Any) -> str:
    """Return why the query heads cannot share the heads of keys and values; "" where they can."""
    if problem.hq % problem.hkv == 0:
        return ""
    return f"{problem.hq} query heads are no multiple of {problem.hkv} heads of keys and values"


def in_words(problem: Any) -> str:
    """Return the sizes in words, without how it is masked."""
    heads = f"{problem.hq} heads of {problem.d}"
    if problem.dv != problem.d:
        heads += f" (values {problem.dv})"
    kv_heads = "KV head" if problem.hkv == 1 else "KV heads"
    groups = f", {problem.hkv} {kv_heads}" if problem.hkv != problem.hq else ""
    batch = f", batch {problem.b}" if problem.b > 1 else ""
    return f"attention {heads}{groups}, {problem.sq} x {problem.skv}{batch}"
