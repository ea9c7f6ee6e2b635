"""Collective operations: every process ends with data that all of them have put in.

The number of bytes follows nccl-tests (`doc/PERFORMANCE.md`): those of the whole vector, also where
a process holds one part of it before or after the call. Algorithm bandwidth is these bytes over the
seconds, bus bandwidth is that times `bus_factor`.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Annotated, ClassVar

from deepbench_ops.problems.problem import MODERN_SETS, Problem


@dataclass(frozen=True)
class Collective(Problem):
    """A collective operation on a vector of `elements` numbers.

    How many processes (ranks) take part is a condition of the run, not a size of the problem.
    """

    listed_in: ClassVar[tuple[str, ...]] = MODERN_SETS
    precisions: ClassVar[tuple[str, ...]] = ("float32", "bfloat16")
    uncompared: ClassVar[tuple[str, ...]] = ()
    ranks: ClassVar[tuple[int, ...]] = (2, 4, 8)
    headline_ranks: ClassVar[tuple[int, ...]] = (2, 8)
    """Eight as in the published sizes, two for machines with few cores."""
    in_parts: ClassVar[bool] = True
    """Whether the vector is cut into as many equal parts as there are ranks."""

    elements: Annotated[int, "numbers in the whole vector"]

    @property
    def id(self) -> str:
        """Like all_gather_n8192: the elements of the whole vector."""
        return f"{self.family}_n{self.elements}"

    @property
    def flops(self) -> int:
        """0: a collective operation is judged by its bandwidth, and additions are not counted."""
        return 0

    @property
    def items(self) -> int:
        """The elements of the vector."""
        return self.elements

    def traffic(self) -> tuple[int, int]:
        """The whole vector once, in its own type, so that nothing is of the output type."""
        return self.elements, 0

    @abstractmethod
    def bus_factor(self, ranks: int) -> float:
        """Bus bandwidth over algorithm bandwidth on so many ranks."""

    def indivisible(self, ranks: int) -> str:
        """Why so many ranks cannot share the vector; "" where they can."""
        if not self.in_parts or self.elements % ranks == 0:
            return ""
        return (
            f"{self.id} cannot be shared by {ranks} ranks: {self.elements} elements are no multiple"
            f" of {ranks}"
        )
