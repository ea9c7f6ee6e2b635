"""Cross-entropy of logits with one right class for each token: the loss of language models."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from deepbench_ops.problems.memory_bound import INDEX_BYTES, MemoryBound, Moved


@dataclass(frozen=True)
class CrossEntropy(MemoryBound):
    """Mean over `tokens` of log(sum(exp(x))) - x[target], x a row of `vocabulary` logits.

    Backward: dx = (softmax(x) - 1 at the target)·dy/tokens.
    """

    family: ClassVar[str] = "cross_entropy"
    position: ClassVar[int] = 216
    heading: ClassVar[str] = "cross-entropy"
    id_pattern: ClassVar[str] = r"cross_entropy_tokens(?P<tokens>\d+)_vocabulary(?P<vocabulary>\d+)"
    operations: ClassVar[tuple[str, ...]] = ("forward", "backward")
    precisions: ClassVar[tuple[str, ...]] = ("float32",)
    """Losses are computed in float32: 16 bits are too narrow for a sum over a vocabulary."""
    headline: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "modern": (
            "cross_entropy_tokens16384_vocabulary4096",
            "cross_entropy_tokens512_vocabulary128256",
        )
    }
    headline_reason: ClassVar[str] = (
        "a small vocabulary, as published; that of Llama 3, for as many tokens as memory holds"
    )

    tokens: Annotated[int, "rows"]
    vocabulary: Annotated[int, "classes: logits in a row"]

    @property
    def id(self) -> str:
        """Id such as cross_entropy_tokens16384_vocabulary4096."""
        return f"cross_entropy_tokens{self.tokens}_vocabulary{self.vocabulary}"

    @property
    def title(self) -> str:
        """Title such as "cross-entropy 16384 tokens, 4096 classes"."""
        return f"cross-entropy {self.tokens} tokens, {self.vocabulary} classes"

    @property
    def items(self) -> int:
        """Number of tokens."""
        return self.tokens

    def work(self, operation: str) -> float:
        """For each logit forward 4 (maximum, difference, exp, sum); backward 3 (difference, exp,
        product)."""
        return (3 if operation == "backward" else 4) * self.tokens * self.vocabulary

    def moved(self, operation: str) -> Moved:
        """Forward: logits and targets read, the loss written. Backward: the gradient written as
        well, and its factor read."""
        logits, targets = self.tokens * self.vocabulary, self.tokens * INDEX_BYTES
        if operation == "backward":
            return Moved(logits + 1, logits, targets)
        return Moved(logits, 1, targets)
