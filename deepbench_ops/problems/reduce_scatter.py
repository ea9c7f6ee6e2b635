"""Reduce-scatter: every process ends with its part of the sum of the vectors of all."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from deepbench_ops.problems.collective import Collective


@dataclass(frozen=True)
class ReduceScatter(Collective):
    """A vector of `elements` numbers on each rank, summed; rank i ends with part i of the sum.

    Input and output are different buffers. Sharded training sums its gradients in this way.
    """

    family: ClassVar[str] = "reduce_scatter"
    heading: ClassVar[str] = "reduce-scatter"
    outcome: ClassVar[str] = "every process ends with its part of the sum"
    position: ClassVar[int] = 52
    id_pattern: ClassVar[str] = r"reduce_scatter_n(?P<elements>\d+)"
    operations: ClassVar[tuple[str, ...]] = ("reduce",)
    totalled: ClassVar[tuple[str, ...]] = operations
    headline: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "modern": ("reduce_scatter_n32768", "reduce_scatter_n4194304"),
    }
    headline_reason: ClassVar[str] = (
        "32,768 elements show the latency of a call, 4,194,304 the speed of copying "
    )

    @property
    def title(self) -> str:
        """Title such as "4,194,304 elements of each rank, summed, a part of the sum to each
        rank"."""
        return f"{self.elements:,} elements of each rank, summed, a part of the sum to each rank"

    def bus_factor(self, ranks: int) -> float:
        """(p - 1)/p for p ranks: of each rank's vector, all parts but its own must leave it."""
        return (ranks - 1) / ranks
