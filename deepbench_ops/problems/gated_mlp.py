"""A decoder's MLP with a gate, SwiGLU or GeGLU (Shazeer, GLU Variants, 2020)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from deepbench_ops.problems.memory_bound import MemoryBound, Moved


@dataclass(frozen=True)
class GatedMlp(MemoryBound):
    """y = (f(x·Gᵀ) * (x·Uᵀ))·Dᵀ for `tokens` rows of x, without biases.

    G and U are intermediate x hidden, D is hidden x intermediate. f is SiLU, x·sigmoid(x), for
    `activation` "swiglu", and GELU in its tanh form for "geglu".
    """

    family: ClassVar[str] = "gated_mlp"
    position: ClassVar[int] = 215
    heading: ClassVar[str] = "gated MLP"
    id_pattern: ClassVar[str] = (
        r"(?P<activation>swiglu|geglu)_tokens(?P<tokens>\d+)_hidden(?P<hidden>\d+)"
        r"_intermediate(?P<intermediate>\d+)"
    )
    operations: ClassVar[tuple[str, ...]] = ("forward", "backward")
    headline: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "modern": (
            "swiglu_tokens128_hidden2048_intermediate8192",
            "geglu_tokens128_hidden2048_intermediate8192",
        )
    }
    headline_reason: ClassVar[str] = (
        "the MLP of Llama-3.2-1B for a prompt of 128 tokens, with either activation "
    )
    words: ClassVar[Mapping[str, tuple[str, ...]]] = {"activation": ("swiglu", "geglu")}

    activation: Annotated[str, "gated function between the products"]
    tokens: Annotated[int, "rows of x"]
    hidden: Annotated[int, "numbers in a row of x"]
    intermediate: Annotated[int, "numbers between the products"]

    @property
    def id(self) -> str:
        """Id such as swiglu_tokens4096_hidden4096_intermediate11008."""
        sizes = f"tokens{self.tokens}_hidden{self.hidden}_intermediate{self.intermediate}"
        return f"{self.activation}_{sizes}"

    @property
    def title(self) -> str:
        """Title such as "SwiGLU MLP 4096 tokens, 4096 to 11008 and back"."""
        name = {"swiglu": "SwiGLU", "geglu": "GeGLU"}[self.activation]
        return f"{name} MLP {self.tokens} tokens, {self.hidden} to {self.intermediate} and back"

    @property
    def items(self) -> int:
        """Number of tokens."""
        return self.tokens

    @property
    def parameters(self) -> int:
        """Count of numbers in the three matrices."""
        return 3 * self.hidden * self.intermediate

    def work(self, operation: str) -> float:
        """2 for each token and weight forward, 4 backward (dx and dW); the activation, below 0.1 %
        at these sizes, is not counted."""
        return (4 if operation == "backward" else 2) * self.tokens * self.parameters

    def moved(self, operation: str) -> Moved:
        """Forward: x and the matrices read, y written. Backward: x, dy, the matrices and two
        products of the forward pass read, dx and three gradients written."""
        x = self.tokens * self.hidden
        if operation == "backward":
            left = 2 * self.tokens * self.intermediate
            return Moved(2 * x + self.parameters + left, x + self.parameters)
        return Moved(x + self.parameters, x)
