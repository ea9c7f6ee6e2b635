"""Problems that are limited by memory, with formulas for the FLOPs and bytes of each operation.

Bytes are those of every operand read once and every result written once. Values of a forward pass
that the backward pass can compute again from its other operands without more traffic, such as the
mean of a row, do not count.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from deepbench_ops.problems.precision import precision
from deepbench_ops.problems.problem import MODERN_SETS, Problem, compared

INDEX_BYTES = 4
"""Bytes of an index: 32 bits are enough for every table. Some frameworks use 64 bits."""


class Moved(NamedTuple):
    """Least traffic of one operation: elements of the precision, and bytes of everything else."""

    read: float
    written: float
    other_bytes: float = 0


def different_rows(rows: int, lookups: int) -> int:
    """Return the expected number of different rows among `lookups` ones, each any row of a table
    of `rows`: rows·(1 - (1 - 1/rows)^lookups), rounded."""
    return round(rows * (1 - (1 - 1 / rows) ** lookups))


@dataclass(frozen=True)
class MemoryBound(Problem):
    """A problem with a formula for the work, and one for the traffic, of each operation."""

    listed_in: ClassVar[tuple[str, ...]] = MODERN_SETS
    precisions: ClassVar[tuple[str, ...]] = ("float32", "bfloat16", "float16")

    @abstractmethod
    def work(self, operation: str) -> float:
        """Floating-point operations of one of the `operations`; exp, root and the like count 1."""

    @abstractmethod
    def moved(self, operation: str) -> Moved:
        """Traffic of one of the `operations`."""

    @property
    def flops(self) -> float:
        """FLOPs of the first operation."""
        return self.work(self.operations[0])

    def flops_of(self, operation: str) -> float:
        """FLOPs of one of the `operations`; 0 for operations that are not compared."""
        return self.work(operation) if compared(operation) else 0

    def traffic(self) -> tuple[float, float]:
        """Elements that the first operation reads and writes."""
        return self.moved(self.operations[0])[:2]

    def bytes(self, name: str) -> float:
        """Bytes of the first operation at the precision of that name."""
        return self.bytes_of(name, self.operations[0])

    def bytes_of(self, name: str, operation: str) -> float:
        """Bytes of one of the `operations`; a first call has those of the first operation."""
        weight = precision(name)
        known = operation if operation in self.operations else self.operations[0]
        read, written, other = self.moved(known)
        return read * weight.input_bytes + written * weight.output_bytes + other
