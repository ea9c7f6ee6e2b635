"""All-to-all: every process sends a part of its vector to each process."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from deepbench_ops.problems.collective import Collective


@dataclass(frozen=True)
class AllToAll(Collective):
    """A vector of `elements` numbers on each rank: part i of rank j becomes part j of rank i.

    Input and output are different buffers. Tokens are sent in this way to experts on other ranks,
    and back.
    """

    family: ClassVar[str] = "all_to_all"
    heading: ClassVar[str] = "all-to-all"
    outcome: ClassVar[str] = "every process ends with the part that each has for it"
    position: ClassVar[int] = 53
    id_pattern: ClassVar[str] = r"all_to_all_n(?P<elements>\d+)"
    operations: ClassVar[tuple[str, ...]] = ("exchange",)
    totalled: ClassVar[tuple[str, ...]] = operations
    headline: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "modern": ("all_to_all_n32768", "all_to_all_n4194304"),
    }
    headline_reason: ClassVar[str] = (
        "32,768 elements show the latency of a call, 4,194,304 the speed of copying "
    )

    @property
    def title(self) -> str:
        """Title such as "4,194,304 elements of each rank, a part for each rank"."""
        return f"{self.elements:,} elements of each rank, a part for each rank"

    def bus_factor(self, ranks: int) -> float:
        """(p - 1)/p for p ranks: each sends all parts but its own."""
        return (ranks - 1) / ranks
