"""Cross-entropy with the last linear layer: a kernel need not have all logits in memory."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from deepbench_ops.problems.memory_bound import INDEX_BYTES, MemoryBound, Moved

FORWARD_BACKWARD = "fused_forward_backward"
"""Operation that computes the loss and both gradients in one call."""


@dataclass(frozen=True)
class LinearCrossEntropy(MemoryBound):
    """Mean cross-entropy of the logits x·Wᵀ; x is `tokens` x `hidden`, W `vocabulary` x `hidden`.

    forward and backward call the layer and then the loss. fused_loss and fused_forward_backward are
    a framework's own operation, which never has all logits: the loss alone, and the loss with both
    gradients in one call, as a training step has them. Such an operation computes the gradients
    together with the loss, so that it has no backward pass of its own.
    """

    family: ClassVar[str] = "linear_cross_entropy"
    position: ClassVar[int] = 217
    heading: ClassVar[str] = "linear layer and cross-entropy"
    id_pattern: ClassVar[str] = (
        r"linear_cross_entropy_tokens(?P<tokens>\d+)_hidden(?P<hidden>\d+)"
        r"_vocabulary(?P<vocabulary>\d+)"
    )
    operations: ClassVar[tuple[str, ...]] = (
        "forward",
        "backward",
        "fused_loss",
        FORWARD_BACKWARD,
    )
    precisions: ClassVar[tuple[str, ...]] = ("float32", "bfloat16")
    """Of x, W and the logits; the loss is computed in float32."""
    headline: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "modern": (
            "linear_cross_entropy_tokens128_hidden2048_vocabulary128256",
            "linear_cross_entropy_tokens512_hidden1024_vocabulary32000",
        )
    }
    headline_reason: ClassVar[str] = (
        "the last layer of Llama-3.2-1B for 128 tokens; one with a quarter of the"
        " classes and four times the tokens"
    )

    tokens: Annotated[int, "rows of x"]
    hidden: Annotated[int, "numbers in a row of x"]
    vocabulary: Annotated[int, "classes: rows of W"]

    @property
    def id(self) -> str:
        """Id such as linear_cross_entropy_tokens4096_hidden4096_vocabulary128256."""
        sizes = f"tokens{self.tokens}_hidden{self.hidden}_vocabulary{self.vocabulary}"
        return f"linear_cross_entropy_{sizes}"

    @property
    def title(self) -> str:
        """Title such as "linear layer and cross-entropy 4096 tokens, 4096 inputs, 128256
        classes"."""
        return (
            f"linear layer and cross-entropy {self.tokens} tokens, {self.hidden} inputs,"
            f" {self.vocabulary} classes"
        )

    @property
    def items(self) -> int:
        """Number of tokens."""
        return self.tokens

    def work(self, operation: str) -> float:
        """2·tokens·hidden·vocabulary for the logits, and as much for each of dx and dW.

        The loss does not count.
        """
        product = 2 * self.tokens * self.hidden * self.vocabulary
        return {"backward": 2, FORWARD_BACKWARD: 3}.get(operation, 1) * product

    def moved(self, operation: str) -> Moved:
        """Forward: x, W and targets read, the loss written. Backward: the loss's gradient read as
        well, dx and dW written. Both in one call: all of these."""
        x, w = self.tokens * self.hidden, self.hidden * self.vocabulary
        targets = self.tokens * INDEX_BYTES
        if operation == FORWARD_BACKWARD:
            return Moved(x + w + 1, x + w + 1, targets)
        if operation == "backward":
            return Moved(x + w + 1, x + w, targets)
        return Moved(x + w, 1, targets)
