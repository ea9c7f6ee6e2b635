"""RMSNorm: rows divided by their root mean square, times a weight (Zhang and Sennrich, 2019)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from deepbench_ops.problems.memory_bound import MemoryBound, Moved


@dataclass(frozen=True)
class RmsNorm(MemoryBound):
    """y = x / sqrt(mean(x²) + 1e-6) · w for each row of x, `tokens` x `hidden`.

    kind: "rms_norm", or "add_rms_norm", where x is the sum of two operands and is a second output,
    as between the layers of a decoder.
    """

    family: ClassVar[str] = "rms_norm"
    position: ClassVar[int] = 210
    heading: ClassVar[str] = "RMSNorm"
    id_pattern: ClassVar[str] = (
        r"(?P<kind>rms_norm|add_rms_norm)_tokens(?P<tokens>\d+)_hidden(?P<hidden>\d+)"
    )
    operations: ClassVar[tuple[str, ...]] = ("forward", "backward")
    headline: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "modern": ("rms_norm_tokens2048_hidden4096", "add_rms_norm_tokens32_hidden4096")
    }
    headline_reason: ClassVar[str] = (
        "a training batch at a decoder's usual width; decoding, where a residual is added"
    )
    words: ClassVar[Mapping[str, tuple[str, ...]]] = {"kind": ("rms_norm", "add_rms_norm")}

    kind: Annotated[str, "without or with a residual that is added first"]
    tokens: Annotated[int, "rows"]
    hidden: Annotated[int, "numbers in a row"]

    @property
    def id(self) -> str:
        """Id such as rms_norm_tokens2048_hidden4096."""
        return f"{self.kind}_tokens{self.tokens}_hidden{self.hidden}"

    @property
    def added(self) -> bool:
        """Whether x is the sum of two operands."""
        return self.kind == "add_rms_norm"

    @property
    def title(self) -> str:
        """Title such as "RMSNorm 2048 x 4096"."""
        return f"RMSNorm {self.tokens} x {self.hidden}{', residual added first' * self.added}"

    @property
    def items(self) -> int:
        """Number of rows, one for each token."""
        return self.tokens

    def work(self, operation: str) -> float:
        """For each entry forward 4 (square, sum, scale, weight), and 1 for an addition; backward 9:
        normalised x, w·dy, two sums of products (4), three for dx."""
        entries = self.tokens * self.hidden
        return (9 if operation == "backward" else 4 + self.added) * entries

    def moved(self, operation: str) -> Moved:
        """Forward: w and x read, or its two terms; y written, and the sum. Backward: x, dy and w
        read, dx and dw written."""
        entries, w = self.tokens * self.hidden, self.hidden
        if operation == "backward":
            return Moved(2 * entries + w, entries + w)
        operands = 1 + self.added
        return Moved(operands * entries + w, operands * entries)
