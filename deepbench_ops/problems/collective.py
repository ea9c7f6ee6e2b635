"""Collective operations: every process gets data to which all of them have contributed.

The number of bytes follows nccl-tests (`doc/PERFORMANCE.md`): the bytes of the whole vector, also
where a process has one part of it before or after the call. Algorithm bandwidth is these bytes
divided by the seconds; bus bandwidth is algorithm bandwidth times `bus_factor`.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Annotated, ClassVar

from deepbench_ops.problems.problem import MODERN_SETS, Problem


@dataclass(frozen=True)
class Collective(Problem):
    """A collective operation on a vector of `elements` numbers.

    The number of processes (ranks) is a condition of the run, not a size of the problem.
    """

    title_names_operation: ClassVar[bool] = False
    listed_in: ClassVar[tuple[str, ...]] = MODERN_SETS
    precisions: ClassVar[tuple[str, ...]] = ("float32", "bfloat16")
    uncompared: ClassVar[tuple[str, ...]] = ()
    ranks: ClassVar[tuple[int, ...]] = (2, 4, 8)
    headline_ranks: ClassVar[tuple[int, ...]] = (2, 8)
    """Eight ranks as in the published sizes, two for machines with few cores."""
    outcome: ClassVar[str] = ""
    """Result on each process in words, for the help."""
    in_parts: ClassVar[bool] = True
    """Whether the vector is divided into as many equal parts as there are ranks."""

    elements: Annotated[int, "numbers in the whole vector"]

    @property
    def id(self) -> str:
        """Id such as all_gather_n8192: the elements of the whole vector."""
        return f"{self.family}_n{self.elements}"

    @property
    def flops(self) -> int:
        """0: the figure of a collective operation is its bandwidth, and additions do not count."""
        return 0

    @property
    def items(self) -> int:
        """Number of elements of the vector."""
        return self.elements

    def traffic(self) -> tuple[int, int]:
        """The whole vector once, in its own type; no elements of the output type."""
        return self.elements, 0

    @abstractmethod
    def bus_factor(self, ranks: int) -> float:
        """Return bus bandwidth divided by algorithm bandwidth for this number of ranks."""

    def indivisible(self, ranks: int) -> str:
        """Return why this number of ranks cannot share the vector; "" if it can."""
        if not self.in_parts or self.elements % ranks == 0:
            return ""
        return (
            f"{self.id} cannot be shared by {ranks} ranks: {self.elements} elements are no multiple"
            f" of {ranks}"
        )
