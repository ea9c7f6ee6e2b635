"""All-gather: every process ends with the parts of all, in the order of the ranks."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from deepbench_ops.problems.collective import Collective


@dataclass(frozen=True)
class AllGather(Collective):
    """A vector of `elements` numbers, gathered on every rank from one part on each rank.

    Part i comes from rank i. Input and output are different buffers. Sharded training gathers
    weights in this way.
    """

    family: ClassVar[str] = "all_gather"
    heading: ClassVar[str] = "all-gather"
    outcome: ClassVar[str] = "every process ends with the parts of all"
    position: ClassVar[int] = 51
    id_pattern: ClassVar[str] = r"all_gather_n(?P<elements>\d+)"
    operations: ClassVar[tuple[str, ...]] = ("gather",)
    totalled: ClassVar[tuple[str, ...]] = operations
    headline: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "modern": ("all_gather_n32768", "all_gather_n4194304"),
    }
    headline_reason: ClassVar[str] = (
        "32,768 elements show the latency of a call, 4,194,304 the speed of copying "
    )

    @property
    def title(self) -> str:
        """Title such as "4,194,304 elements gathered from a part of each rank"."""
        return f"{self.elements:,} elements gathered from a part of each rank"

    def bus_factor(self, ranks: int) -> float:
        """(p - 1)/p for p ranks: each receives all parts but its own."""
        return (ranks - 1) / ranks
