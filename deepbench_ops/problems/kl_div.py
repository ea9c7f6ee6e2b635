"""Kullback-Leibler divergence of predicted and target probabilities: the loss of distillation."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from deepbench_ops.problems.memory_bound import MemoryBound, Moved


@dataclass(frozen=True)
class KlDiv(MemoryBound):
    """Mean over `tokens` of sum(t·(log t - x)), x a row of `vocabulary` log-probabilities.

    t are the target probabilities. Backward: dx = -t·dy/tokens.
    """

    family: ClassVar[str] = "kl_div"
    position: ClassVar[int] = 218
    heading: ClassVar[str] = "KL divergence"
    id_pattern: ClassVar[str] = r"kl_div_tokens(?P<tokens>\d+)_vocabulary(?P<vocabulary>\d+)"
    operations: ClassVar[tuple[str, ...]] = ("forward", "backward")
    precisions: ClassVar[tuple[str, ...]] = ("float32",)
    """Losses are computed in float32: 16 bits are too narrow for a sum over a vocabulary."""
    headline: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "modern": ("kl_div_tokens512_vocabulary32000", "kl_div_tokens4096_vocabulary4096")
    }
    headline_reason: ClassVar[str] = "few tokens with many classes; many tokens with few classes"

    tokens: Annotated[int, "rows"]
    vocabulary: Annotated[int, "classes: probabilities in a row"]

    @property
    def id(self) -> str:
        """Id such as kl_div_tokens4096_vocabulary131072."""
        return f"kl_div_tokens{self.tokens}_vocabulary{self.vocabulary}"

    @property
    def title(self) -> str:
        """Title such as "KL divergence 4096 tokens, 131072 classes"."""
        return f"KL divergence {self.tokens} tokens, {self.vocabulary} classes"

    @property
    def items(self) -> int:
        """Number of tokens."""
        return self.tokens

    def work(self, operation: str) -> float:
        """For each entry forward 4 (logarithm, difference, product, sum), backward 1 product."""
        return (1 if operation == "backward" else 4) * self.tokens * self.vocabulary

    def moved(self, operation: str) -> Moved:
        """Forward: x and t read, the loss written. Backward: t and dy read, dx written."""
        entries = self.tokens * self.vocabulary
        return Moved(entries + 1, entries) if operation == "backward" else Moved(2 * entries, 1)
