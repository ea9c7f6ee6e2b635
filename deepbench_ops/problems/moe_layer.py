"""Whole mixture-of-experts layers: router, choice of experts, their products, weighted sum."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from deepbench_ops.problems.precision import precision
from deepbench_ops.problems.problem import MODERN_SETS, Problem

MATRICES = {"swiglu": 3, "relu2": 2}
"""Number of matrices of an expert, by activation: gate, up and down, or up and down."""


@dataclass(frozen=True)
class MoeLayer(Problem):
    """y = Σ over the chosen experts e of p_e · W2_e·f(W1_e·x), for each of `tokens` vectors x.

    The router's logits are x·Wᵣᵀ. The experts with the `top_k` largest logits are chosen, and p is
    the softmax of these logits. activation: swiglu, with f = silu(gate)·up, or relu2, with
    f = max(up, 0)².
    """

    family: ClassVar[str] = "moe_layer"
    position: ClassVar[int] = 140
    heading: ClassVar[str] = "mixture of experts"
    id_pattern: ClassVar[str] = (
        r"t(?P<tokens>\d+)_e(?P<experts>\d+)_h(?P<hidden>\d+)_i(?P<intermediate>\d+)"
        r"_top(?P<top_k>\d+)_(?P<activation>swiglu|relu2)"
    )
    listed_in: ClassVar[tuple[str, ...]] = MODERN_SETS
    operations: ClassVar[tuple[str, ...]] = ("forward", "backward")
    precisions: ClassVar[tuple[str, ...]] = ("float32", "bfloat16", "float16")
    headline: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "modern": (
            "t128_e32_h2048_i768_top8_swiglu",
            "t1_e32_h2048_i768_top8_swiglu",
        ),
    }
    headline_reason: ClassVar[str] = (
        "a prompt, which uses every expert; one token, which uses top_k experts "
    )
    words: ClassVar[Mapping[str, tuple[str, ...]]] = {"activation": tuple(MATRICES)}

    tokens: Annotated[int, "tokens of all sequences"]
    experts: Annotated[int, "experts of the layer"]
    hidden: Annotated[int, "numbers of a token's vector"]
    intermediate: Annotated[int, "numbers between the products of an expert"]
    top_k: Annotated[int, "experts that are chosen for a token"]
    activation: Annotated[str, "function between the products of an expert"] = "swiglu"

    @property
    def id(self) -> str:
        """Id such as t128_e128_h2048_i768_top8_swiglu."""
        return (
            f"t{self.tokens}_e{self.experts}_h{self.hidden}_i{self.intermediate}_top{self.top_k}"
            f"_{self.activation}"
        )

    @property
    def title(self) -> str:
        """Title such as "mixture of experts, 8 of 128 of 2048 by 768, swiglu, 128 tokens"."""
        tokens = "1 token" if self.tokens == 1 else f"{self.tokens} tokens"
        return (
            f"mixture of experts, {self.top_k} of {self.experts} of {self.hidden} by"
            f" {self.intermediate}, {self.activation}, {tokens}"
        )

    def impossible(self) -> str:
        """Reason for more chosen experts than there are, or for an unknown activation."""
        if self.top_k > self.experts:
            return f"top-k {self.top_k} is above the number of experts, {self.experts}"
        if self.activation not in MATRICES:
            return f"no activation is called {self.activation}: write {' or '.join(MATRICES)}"
        return ""

    @property
    def flops(self) -> int:
        """2·tokens·(hidden·experts + top_k·matrices·hidden·intermediate).

        These are the products of the router and of the chosen experts. Softmax, activation and
        weighted sum do not count.
        """
        return 2 * self.tokens * (self.hidden * self.experts + self.top_k * self._expert)

    def flops_of(self, operation: str) -> float:
        """FLOPs of an operation; backward has twice those of forward: two gradients per product."""
        return 2 * self.flops if operation == "backward" else super().flops_of(operation)

    @property
    def items(self) -> int:
        """Number of tokens."""
        return self.tokens

    @property
    def busy(self) -> float:
        """Expected number of experts that at least one token chooses, E·(1 - (1 -
        top_k/E)^tokens)."""
        missed = (1 - self.top_k / self.experts) ** self.tokens
        return self.experts * (1 - missed)

    def traffic(self) -> tuple[float, int]:
        """x, the router and the matrices of chosen experts read once, y written once."""
        x, router = self.tokens * self.hidden, self.experts * self.hidden
        return x + router + self.busy * self._expert, x

    @property
    def _expert(self) -> int:
        """Count of numbers in the matrices of an expert."""
        return MATRICES[self.activation] * self.hidden * self.intermediate

    def bytes(self, name: str) -> float:
        """Bytes of `traffic`, rounded to a whole number."""
        return self._rounded(name, *self.traffic())

    def bytes_of(self, name: str, operation: str) -> float:
        """Bytes of an operation. Backward: x, dy, the matrices, and the products inside the experts
        from the forward pass read; dx and the gradients of router and experts written."""
        if operation != "backward":
            return self.bytes(name)
        read, x = self.traffic()
        left = self.tokens * self.top_k * (MATRICES[self.activation] - 1) * self.intermediate
        return self._rounded(name, read + x + left, x + self.experts * (self.hidden + self._expert))

    @staticmethod
    def _rounded(name: str, read: float, written: float) -> float:
        weight = precision(name)
        return float(round(read)) * weight.input_bytes + written * weight.output_bytes
