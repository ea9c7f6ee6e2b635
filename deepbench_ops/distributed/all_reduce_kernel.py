"""All-reduce as a kernel, over the ranks of a group or of a launcher."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np

from deepbench_ops.backends import free_memory
from deepbench_ops.backends.assembly import Prepared, assemble
from deepbench_ops.backends.base import done
from deepbench_ops.backends.kernel import Index, Kernel
from deepbench_ops.distributed import rank_command
from deepbench_ops.distributed.initial_vectors import PERIOD, Pattern
from deepbench_ops.errors import Unsupported
from deepbench_ops.measure.sampling import Policy
from deepbench_ops.problems.all_reduce import AllReduce

PRECISION = "float32"

POLICY = Policy(slice_seconds=0.05, budget_seconds=1.5, target=0.01, min_samples=6)
"""Sums between processes vary with every turn the scheduler takes: with slices of the usual 8 ms,
medians of four ranks on two cores lay 8 to 15 % apart from group to group, with these 2 to 7 %."""

VECTORS = {"gloo": 1, "nccl": 1, "mpi": 2}
"""Copies of the vector that a rank may need in main memory: MPI libraries sum into a second one."""

RANK_BYTES = 64 * 2**20
"""Memory that a rank needs besides its vectors: its own part of Python and its libraries."""


class Ranks(Protocol):
    """A `RankGroup` on this machine, or the ranks of a launcher that rank 0 leads.

    name: name of the transport. size: number of ranks. here: number of them on this machine.
    """

    name: str
    size: int
    here: int
    versions: dict[str, str]

    def ask(self, do: str, **details: object) -> list[dict[str, Any]]:
        """Give all ranks an order; return their answers by rank."""


@dataclass(frozen=True)
class AllReduceReference:
    """The sum of all ranks' vectors, exact: no error is allowed."""

    pattern: Pattern

    @property
    def shape(self) -> tuple[int]:
        """(elements,)."""
        return (self.pattern.elements,)

    def everywhere(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, zeros)."""
        return self.at((np.arange(self.pattern.elements),))

    def at(self, index: Index) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, zeros) at these entries."""
        expected = self.pattern.at(index[0])
        return expected, np.zeros_like(expected)


def prepare(problem: AllReduce, ranks: Ranks, seed: int = 0) -> Kernel:
    """Give every rank its vector, sum once, and compare every entry on every rank.

    Raises DeepbenchError naming the rank when a sum is wrong, Unsupported for more than there is
    memory for.
    """
    kernel = build(problem, ranks, seed)
    kernel.run()
    ranks.ask("verify")
    return kernel


@dataclass(frozen=True)
class RanksExecutor:
    """Ranks as the executor of a kernel; see `assembly.Executor`."""

    ranks: Ranks

    @property
    def name(self) -> str:
        """Name of the ranks' transport."""
        return self.ranks.name

    @property
    def device(self) -> str:
        """Number of ranks, like "4 ranks"."""
        return f"{self.ranks.size} ranks"

    @property
    def synchronise(self) -> Callable[[], object]:
        """Function that does nothing: ranks answer an order when they have carried it out."""
        return done

    def read(self, output: int, index: tuple[Any, ...]) -> np.ndarray:
        """Return entries of a vector of `output` elements from rank 0, all of them for ().

        Every rank compares all entries of its own vector first, since rank 0's say nothing of the
        others'. Raises DeepbenchError naming the rank whose sum is wrong.
        """
        entries = index[0] if index else np.arange(output)
        self.ranks.ask("verify")
        return np.array(self.ranks.ask("peek", entries=entries.tolist())[0]["values"])


def build(problem: AllReduce, ranks: Ranks, seed: int = 0) -> Kernel:
    """Give every rank its vector, and return the kernel that sums them.

    Reading its output has every rank compare all entries. Raises Unsupported for more than there
    is memory for.
    """
    demand_memory(problem.elements, ranks.here, ranks.name)
    ranks.ask("prepare", elements=problem.elements, seed=seed)

    def clock(calls: int) -> float:
        return max(each["seconds"] for each in ranks.ask("slice", calls=calls)) / calls

    prepared = Prepared(
        run=partial(ranks.ask, "run"),
        reset=partial(ranks.ask, "reset"),
        output=lambda: problem.elements,
        reference=AllReduceReference(Pattern(problem.elements, ranks.size, seed)),
        notes=notes(ranks, seed),
        clock=clock,
    )
    operation = problem.operations[0]
    return assemble(RanksExecutor(ranks), problem, PRECISION, operation, None, prepared)


def notes(ranks: Ranks, seed: int) -> Mapping[str, str]:
    """Return notes for the record: ranks, transport, threads, inputs, what the time is of."""
    return {
        "ranks": str(ranks.size),
        "transport": ranks.name,
        "threads per rank": str(rank_command.THREADS),
        "inputs": f"random odd integers times 2^-100 in blocks of {PERIOD}, seed {seed}",
        "time": "the slowest rank's, from a barrier to its last sum, in place",
    }


def demand_precision(precision: str) -> None:
    """Raise Unsupported for any precision but the published one."""
    if precision != PRECISION:
        raise Unsupported(f"all-reduce is measured in {PRECISION}, not in {precision}")


def demand_memory(elements: int, ranks: int, name: str) -> None:
    """Raise Unsupported where this machine has too little memory for the vectors of `ranks`."""
    needed = ranks * (4 * elements * VECTORS[name] + RANK_BYTES)
    available = free_memory.available()
    if needed > available:
        raise Unsupported(
            f"{ranks} ranks of {elements} elements need about {needed / 2**30:.1f} GiB of memory,"
            f" and {available / 2**30:.1f} GiB are available"
        )
