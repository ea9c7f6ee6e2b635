"""All-reduce: every process ends with the sum of the vectors of all."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from deepbench_ops.problems.collective import Collective
from deepbench_ops.problems.problem import SETS, Sheets, Table


@dataclass(frozen=True)
class AllReduce(Collective):
    """A vector of `elements` numbers on each participant, summed over all of them.

    repeats: number of runs of the published programs for one figure. The number of participants is
    a condition of the run, not a size of the problem.
    """

    family: ClassVar[str] = "all_reduce"
    heading: ClassVar[str] = "all-reduce"
    outcome: ClassVar[str] = "every process ends with the whole sum"
    position: ClassVar[int] = 50
    listed_in: ClassVar[tuple[str, ...]] = SETS
    id_pattern: ClassVar[str] = r"n(?P<elements>\d+)"
    operations: ClassVar[tuple[str, ...]] = ("sum",)
    precisions: ClassVar[tuple[str, ...]] = ("float32",)
    totalled: ClassVar[tuple[str, ...]] = operations
    in_parts: ClassVar[bool] = False
    ranks: ClassVar[tuple[int, ...]] = (2, 4, 8, 16, 32)
    headline_ranks: ClassVar[tuple[int, ...]] = (8, 16, 32)
    headline: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "training": (
            "n16777217",  # printed as 16777216: see the problem's note
            "n64500000",
        ),
    }
    headline_reason: ClassVar[str] = "the rows of DeepBench's README"
    sheets: ClassVar[Sheets] = Sheets(
        tables=(Table("All-Reduce", start="all-reduce"),),
        sizes={"size # floats": "elements"},
        times={"mean all reduce time": "sum"},
    )

    repeats: Annotated[int, "sums that the published programs ran for one figure"] = 1

    @property
    def id(self) -> str:
        """Id such as n4194304: the elements of the vector.

        It is the size that the published programs ran. Their sheets print 16777216 where the
        programs ran 16777217, so the printed size is an alias of the timed one.
        """
        return f"n{self.elements}"

    @property
    def title(self) -> str:
        """Title such as "100,000 elements of each rank"."""
        return f"{self.elements:,} elements of each rank"

    def bus_factor(self, ranks: int) -> float:
        """2(p - 1)/p for p ranks: each entry leaves p - 1 ranks, and its sum arrives at p - 1."""
        return 2 * (ranks - 1) / ranks
