"""The Gaussian error linear unit (Hendrycks and Gimpel, 2016), its exact form."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from deepbench_ops.problems.memory_bound import MemoryBound, Moved


@dataclass(frozen=True)
class Gelu(MemoryBound):
    """y = x/2·(1 + erf(x/sqrt(2))) for each of `batch` x `columns` numbers.

    Backward: dx = dy·(P(x) + x·p(x)) with the normal distribution P and its density p.
    """

    family: ClassVar[str] = "gelu"
    position: ClassVar[int] = 214
    heading: ClassVar[str] = "GELU"
    id_pattern: ClassVar[str] = r"gelu_batch(?P<batch>\d+)_columns(?P<columns>\d+)"
    operations: ClassVar[tuple[str, ...]] = ("forward", "backward")
    headline: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "modern": ("gelu_batch1024_columns1024", "gelu_batch6272_columns2048")
    }
    headline_reason: ClassVar[str] = (
        "one that fits into caches; that of an image network with 27 such calls a step "
    )

    batch: Annotated[int, "rows"]
    columns: Annotated[int, "numbers in a row"]

    @property
    def id(self) -> str:
        """Id such as gelu_batch1024_columns1024."""
        return f"gelu_batch{self.batch}_columns{self.columns}"

    @property
    def title(self) -> str:
        """Title such as "GELU 1024 x 1024"."""
        return f"GELU {self.batch} x {self.columns}"

    @property
    def items(self) -> int:
        """Number of rows."""
        return self.batch

    def work(self, operation: str) -> float:
        """For each entry forward 5 (scale, erf, sum, two products); backward 11: four for P, four
        for p, product, sum, and product with dy."""
        return (11 if operation == "backward" else 5) * self.batch * self.columns

    def moved(self, operation: str) -> Moved:
        """Forward: x read, y written. Backward: x and dy read, dx written."""
        entries = self.batch * self.columns
        return Moved(2 * entries if operation == "backward" else entries, entries)
