"""Top-p sampling of the next token (Holtzman et al., 2019)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from deepbench_ops.problems.memory_bound import INDEX_BYTES, MemoryBound, Moved


@dataclass(frozen=True)
class Sampling(MemoryBound):
    """A random column for each of `batch` rows of `columns` probabilities.

    It is drawn by probability among the smallest number of most likely columns whose probabilities
    add up to `p`.
    """

    family: ClassVar[str] = "sampling"
    position: ClassVar[int] = 222
    id_pattern: ClassVar[str] = r"top_p_batch(?P<batch>\d+)_columns(?P<columns>\d+)_p(?P<p>0\.\d+)"
    precisions: ClassVar[tuple[str, ...]] = ("float32",)
    headline: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "modern": ("top_p_batch32_columns128256_p0.95", "top_p_batch1_columns128256_p0.95")
    }
    headline_reason: ClassVar[str] = "a batch of 32 sequences; a single one"

    batch: Annotated[int, "rows"]
    columns: Annotated[int, "probabilities in a row"]
    p: Annotated[float, "p of top-p sampling: the probability of all columns drawn from, in (0, 1)"]

    @property
    def id(self) -> str:
        """Id such as top_p_batch32_columns128256_p0.95."""
        return f"top_p_batch{self.batch}_columns{self.columns}_p{self.p:g}"

    @property
    def title(self) -> str:
        """Title such as "top-p sampling of 32 x 128256, p 0.95"."""
        return f"top-p sampling of {self.batch} x {self.columns}, p {self.p:g}"

    @property
    def items(self) -> int:
        """Number of rows, one for each token."""
        return self.batch

    def work(self, operation: str) -> float:
        """2 for each probability: a comparison and a sum. Sorting does not count: frameworks do it,
        but the task does not need it."""
        return 2 * self.batch * self.columns

    def moved(self, operation: str) -> Moved:
        """All probabilities read, a column for each row written."""
        return Moved(self.batch * self.columns, 0, self.batch * INDEX_BYTES)
