"""Softmax over rows: exponentials divided by their sum."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from deepbench_ops.problems.memory_bound import MemoryBound, Moved


@dataclass(frozen=True)
class Softmax(MemoryBound):
    """y = exp(x - max(x)) / sum(exp(x - max(x))) for each row of x, `batch` x `columns`.

    Backward: dx = y·(dy - sum(y·dy)), from the forward output y.
    """

    family: ClassVar[str] = "softmax"
    position: ClassVar[int] = 212
    id_pattern: ClassVar[str] = r"softmax_batch(?P<batch>\d+)_columns(?P<columns>\d+)"
    operations: ClassVar[tuple[str, ...]] = ("forward", "backward")
    headline: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "modern": ("softmax_batch4096_columns4096", "softmax_batch64_columns128256")
    }
    headline_reason: ClassVar[str] = (
        "the scores of attention over 4096 tokens; the probabilities of a whole vocabulary"
    )

    batch: Annotated[int, "rows"]
    columns: Annotated[int, "numbers in a row"]

    @property
    def id(self) -> str:
        """Id such as softmax_batch4096_columns256."""
        return f"softmax_batch{self.batch}_columns{self.columns}"

    @property
    def title(self) -> str:
        """Title such as "softmax 4096 x 256"."""
        return f"softmax {self.batch} x {self.columns}"

    @property
    def items(self) -> int:
        """Number of rows."""
        return self.batch

    def work(self, operation: str) -> float:
        """For each entry forward 5 (maximum, difference, exp, sum, quotient); backward 4 (product,
        sum, difference, product)."""
        return (4 if operation == "backward" else 5) * self.batch * self.columns

    def moved(self, operation: str) -> Moved:
        """Forward: x read, y written. Backward: y and dy read, dx written."""
        entries = self.batch * self.columns
        return Moved(2 * entries if operation == "backward" else entries, entries)
