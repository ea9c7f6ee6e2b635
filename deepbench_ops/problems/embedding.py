"""Embedding: rows of a table, looked up by the numbers of tokens."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from deepbench_ops.problems.memory_bound import INDEX_BYTES, MemoryBound, Moved, different_rows


@dataclass(frozen=True)
class Embedding(MemoryBound):
    """`tokens` rows of a table of `vocabulary` x `size`.

    Backward: the gradient of the whole table, dense, with the gradients of tokens that share a row
    added up.
    """

    family: ClassVar[str] = "embedding"
    position: ClassVar[int] = 219
    id_pattern: ClassVar[str] = (
        r"embedding_tokens(?P<tokens>\d+)_vocabulary(?P<vocabulary>\d+)_size(?P<size>\d+)"
    )
    operations: ClassVar[tuple[str, ...]] = ("forward", "backward")
    headline: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "modern": (
            "embedding_tokens16384_vocabulary1024_size768",
            "embedding_tokens16384_vocabulary131072_size768",
        )
    }
    headline_reason: ClassVar[str] = (
        "a table that fits into caches, with every row 16 times; one that does not fit "
    )

    tokens: Annotated[int, "rows that are looked up"]
    vocabulary: Annotated[int, "rows of the table"]
    size: Annotated[int, "numbers in a row of the table"]

    @property
    def id(self) -> str:
        """Id such as embedding_tokens16384_vocabulary1024_size768."""
        return f"embedding_tokens{self.tokens}_vocabulary{self.vocabulary}_size{self.size}"

    @property
    def title(self) -> str:
        """Title such as "embedding of 16384 tokens, table 1024 x 768"."""
        return f"embedding of {self.tokens} tokens, table {self.vocabulary} x {self.size}"

    @property
    def items(self) -> int:
        """Number of tokens."""
        return self.tokens

    def work(self, operation: str) -> float:
        """Forward 0; backward one addition for each number of the gradient that arrives."""
        return self.tokens * self.size if operation == "backward" else 0

    def moved(self, operation: str) -> Moved:
        """Forward: each row that is looked up read once, by their expected number, and the output
        written. Backward: the output's gradient read and that of the whole table written. Both
        read the indices."""
        output, table = self.tokens * self.size, self.vocabulary * self.size
        indices = self.tokens * INDEX_BYTES
        if operation == "backward":
            return Moved(output, table, indices)
        rows = different_rows(self.vocabulary, self.tokens)
        return Moved(rows * self.size, output, indices)
