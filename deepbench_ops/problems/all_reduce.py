"""All-reduce: every process ends with the sum of the vectors of all."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from deepbench_ops.problems.problem import Problem, Sheets, Table


@dataclass(frozen=True)
class AllReduce(Problem):
    """A vector of `elements` numbers on each participant, summed over all of them.

    repeats is how often the published programs ran it for one figure. How many participate
    is a condition of the run, not a size of the problem.
    """

    family: ClassVar[str] = "all_reduce"
    heading: ClassVar[str] = "all-reduce"
    position: ClassVar[int] = 50
    id_pattern: ClassVar[str] = r"n(?P<elements>\d+)"
    operations: ClassVar[tuple[str, ...]] = ("sum",)
    precisions: ClassVar[tuple[str, ...]] = ("float32",)
    totalled: ClassVar[tuple[str, ...]] = operations
    ranks: ClassVar[tuple[int, ...]] = (2, 4, 8, 16, 32)
    headline_ranks: ClassVar[tuple[int, ...]] = (8, 16, 32)
    headline: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "training": (
            "n16777217",  # printed as 16777216: see the problem's note
            "n64500000",
        ),
    }
    sheets: ClassVar[Sheets] = Sheets(
        tables=(Table("All-Reduce", start="all-reduce"),),
        sizes={"size # floats": "elements"},
        times={"mean all reduce time": "sum"},
    )

    elements: int
    repeats: int = 1

    @property
    def id(self) -> str:
        """Like n4194304: the elements of the vector.

        It is the size that the published programs ran. Their sheets print 16777216 where the
        programs ran 16777217: the printed size is an alias, so their figures join on what was
        really timed.
        """
        return f"n{self.elements}"

    @property
    def title(self) -> str:
        """Like "100,000 elements of each rank"."""
        return f"{self.elements:,} elements of each rank"

    @property
    def flops(self) -> int:
        """0: DeepBench judges an all-reduce by its bandwidth and counts no operations."""
        return 0

    @property
    def items(self) -> int:
        """The elements of the vector."""
        return self.elements

    def traffic(self) -> tuple[int, int]:
        """The vector once: DeepBench's bandwidth is its bytes over the seconds.

        It is summed in place and in its own type, so nothing is of the output type.
        """
        return self.elements, 0


def bus_factor(participants: int) -> float:
    """Bus bandwidth over algorithm bandwidth: 2(p - 1)/p for p participants."""
    return 2 * (participants - 1) / participants
