"""Top-k: the largest numbers of each row and their positions."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from deepbench_ops.problems.memory_bound import INDEX_BYTES, MemoryBound, Moved


@dataclass(frozen=True)
class TopK(MemoryBound):
    """The `k` largest of each row of `batch` x `columns`, the largest first, and their columns.

    Equal numbers may be in any order.
    """

    family: ClassVar[str] = "topk"
    position: ClassVar[int] = 221
    heading: ClassVar[str] = "top-k"
    id_pattern: ClassVar[str] = r"topk_batch(?P<batch>\d+)_columns(?P<columns>\d+)_k(?P<k>\d+)"
    headline: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "modern": ("topk_batch32_columns32000_k50", "topk_batch1024_columns128_k8")
    }
    headline_reason: ClassVar[str] = "the candidates of a sampler; the gate of a mixture of experts"

    batch: Annotated[int, "rows"]
    columns: Annotated[int, "numbers in a row"]
    k: Annotated[int, "numbers that are chosen in a row"]

    @property
    def id(self) -> str:
        """Id such as topk_batch32_columns32000_k50."""
        return f"topk_batch{self.batch}_columns{self.columns}_k{self.k}"

    @property
    def title(self) -> str:
        """Title such as "top 50 of 32 x 32000"."""
        return f"top {self.k} of {self.batch} x {self.columns}"

    @property
    def items(self) -> int:
        """Number of rows."""
        return self.batch

    def impossible(self) -> str:
        """Reason why no such problem can exist; "" where it can."""
        if self.k > self.columns:
            return f"k is {self.k}, but a row has {self.columns} columns: write a smaller k"
        return ""

    def work(self, operation: str) -> float:
        """One comparison for each number, the least number for a maximum."""
        return self.batch * self.columns

    def moved(self, operation: str) -> Moved:
        """All numbers read, k of each row and their columns written."""
        found = self.batch * self.k
        return Moved(self.batch * self.columns, found, found * INDEX_BYTES)
