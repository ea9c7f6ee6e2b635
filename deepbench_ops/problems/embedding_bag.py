"""Embedding bags: sums of rows of a table, as recommendation models look them up (DLRM)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from deepbench_ops.problems.memory_bound import INDEX_BYTES, MemoryBound, Moved, different_rows


@dataclass(frozen=True)
class EmbeddingBag(MemoryBound):
    """`bags` sums of `pooling` rows each, of a table of `table` x `size`.

    Backward: the gradient of the whole table, dense, with the gradients of bags that share a row
    added up.
    """

    family: ClassVar[str] = "embedding_bag"
    position: ClassVar[int] = 220
    id_pattern: ClassVar[str] = (
        r"embedding_bag_bags(?P<bags>\d+)_pooling(?P<pooling>\d+)_table(?P<table>\d+)"
        r"_size(?P<size>\d+)"
    )
    operations: ClassVar[tuple[str, ...]] = ("forward", "backward")
    headline: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "modern": (
            "embedding_bag_bags8192_pooling2_table39060_size128",
            "embedding_bag_bags8192_pooling10_table590152_size128",
        )
    }
    headline_reason: ClassVar[str] = "a small table with short bags; a large one with longer bags"

    bags: Annotated[int, "sums of rows"]
    pooling: Annotated[int, "rows in a sum"]
    table: Annotated[int, "rows of the table"]
    size: Annotated[int, "numbers in a row of the table"]

    @property
    def id(self) -> str:
        """Id such as embedding_bag_bags8192_pooling2_table39060_size128."""
        lookups = f"bags{self.bags}_pooling{self.pooling}"
        return f"embedding_bag_{lookups}_table{self.table}_size{self.size}"

    @property
    def title(self) -> str:
        """Title such as "embedding bag 8192 sums of 2 rows, table 39060 x 128"."""
        lookups = f"{self.bags} sums of {self.pooling} rows"
        return f"embedding bag {lookups}, table {self.table} x {self.size}"

    @property
    def items(self) -> int:
        """Number of bags, one for each sample."""
        return self.bags

    def work(self, operation: str) -> float:
        """One addition for each number that is looked up, or whose gradient is added to its row."""
        return self.bags * self.pooling * self.size

    def moved(self, operation: str) -> Moved:
        """Forward: each row that is looked up read once, by their expected number, and the sums
        written. Backward: the gradient of the sums read and that of the whole table written. Both
        read the indices."""
        sums, table = self.bags * self.size, self.table * self.size
        lookups = self.bags * self.pooling
        indices = lookups * INDEX_BYTES
        if operation == "backward":
            return Moved(sums, table, indices)
        return Moved(different_rows(self.table, lookups) * self.size, sums, indices)
