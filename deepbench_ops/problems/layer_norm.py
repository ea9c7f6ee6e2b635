"""LayerNorm: rows normalised by mean and variance, times a weight, plus a bias (Ba, Kiros and
Hinton, 2016)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from deepbench_ops.problems.memory_bound import MemoryBound, Moved


@dataclass(frozen=True)
class LayerNorm(MemoryBound):
    """y = (x - mean(x)) / sqrt(variance(x) + 1e-5) · w + b for each row of `tokens` x `hidden`."""

    family: ClassVar[str] = "layer_norm"
    position: ClassVar[int] = 211
    heading: ClassVar[str] = "LayerNorm"
    id_pattern: ClassVar[str] = r"layer_norm_tokens(?P<tokens>\d+)_hidden(?P<hidden>\d+)"
    operations: ClassVar[tuple[str, ...]] = ("forward", "backward")
    headline: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "modern": ("layer_norm_tokens4096_hidden1024", "layer_norm_tokens6272_hidden512")
    }
    headline_reason: ClassVar[str] = (
        "a language model's batch; that of an image network with 27 such calls a step "
    )

    tokens: Annotated[int, "rows"]
    hidden: Annotated[int, "numbers in a row"]

    @property
    def id(self) -> str:
        """Id such as layer_norm_tokens4096_hidden1024."""
        return f"layer_norm_tokens{self.tokens}_hidden{self.hidden}"

    @property
    def title(self) -> str:
        """Title such as "LayerNorm 4096 x 1024"."""
        return f"LayerNorm {self.tokens} x {self.hidden}"

    @property
    def items(self) -> int:
        """Number of rows, one for each token or pixel."""
        return self.tokens

    def work(self, operation: str) -> float:
        """For each entry forward 7 (sum, difference, square, sum, scale, weight, bias); backward
        13: normalised x (2), w·dy, two sums (3), four for dx, three for dw and db."""
        return (13 if operation == "backward" else 7) * self.tokens * self.hidden

    def moved(self, operation: str) -> Moved:
        """Forward: x, w, b read, y written. Backward: x, dy, w read, dx, dw, db written."""
        entries, w = self.tokens * self.hidden, self.hidden
        if operation == "backward":
            return Moved(2 * entries + w, entries + 2 * w)
        return Moved(entries + 2 * w, entries)
