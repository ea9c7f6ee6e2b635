"""A collective operation as a kernel, over the ranks of a group or of a launcher."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np

from deepbench_ops.backends import free_memory
from deepbench_ops.backends.assembly import Prepared, assemble
from deepbench_ops.backends.base import done
from deepbench_ops.backends.kernel import Index, Kernel
from deepbench_ops.distributed import collectives, rank_command, transport
from deepbench_ops.distributed.initial_vectors import PERIOD, SIGNIFICAND, addend_bits
from deepbench_ops.distributed.rank_contents import STORED, Contents
from deepbench_ops.errors import Unsupported
from deepbench_ops.measure.sampling import Policy
from deepbench_ops.problems.collective import Collective

POLICY = Policy(slice_seconds=0.05, budget_seconds=1.5, target=0.01, min_samples=6)
"""Sums between processes vary with the scheduler: with slices of the usual 8 ms,
medians of four ranks on two cores lay 8 to 15 % apart from group to group, with these 2 to 7 %."""

FEWEST_BITS = 2
"""Of an entry that is summed, its sign included."""

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
class CollectiveReference:
    """The result of rank 0, exact: no error is allowed."""

    contents: Contents

    @property
    def shape(self) -> tuple[int]:
        """(entries of rank 0's result,)."""
        return (self.contents.result_size(),)

    def everywhere(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, zeros)."""
        return self.at((np.arange(self.shape[0]),))

    def at(self, index: Index) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, zeros) at these entries."""
        expected = self.contents.at(index[0])
        return expected, np.zeros_like(expected)


def prepare(problem: Collective, ranks: Ranks, precision: str = "float32", seed: int = 0) -> Kernel:
    """Give every rank its vectors, call once, and compare every entry on every rank.

    Raises DeepbenchError naming the rank when a result is wrong, Unsupported for what the transport
    cannot do, and for more than there is memory for.
    """
    kernel = build(problem, ranks, precision, seed)
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
        """Return entries of a result of `output` entries from rank 0, all of them for ().

        Every rank compares all entries of its own result first, since rank 0's say nothing of the
        others'. Raises DeepbenchError naming the rank whose result is wrong.
        """
        entries = index[0] if index else np.arange(output)
        self.ranks.ask("verify")
        return np.array(self.ranks.ask("peek", entries=entries.tolist())[0]["values"])


def build(problem: Collective, ranks: Ranks, precision: str = "float32", seed: int = 0) -> Kernel:
    """Give every rank its vectors, and return the kernel that calls the operation.

    Reading its output has every rank compare all entries. Raises Unsupported as `prepare` does.
    """
    demand(problem, precision, ranks.size, ranks.name)
    demand_memory(problem, precision, ranks.size, ranks.here, ranks.name)
    ranks.ask(
        "prepare",
        elements=problem.elements,
        seed=seed,
        family=problem.family,
        precision=precision,
    )

    def clock(calls: int) -> float:
        return max(each["seconds"] for each in ranks.ask("slice", calls=calls)) / calls

    reference = CollectiveReference(
        Contents(problem.family, problem.elements, ranks.size, precision, seed)
    )
    prepared = Prepared(
        run=partial(ranks.ask, "run"),
        reset=partial(ranks.ask, "reset"),
        output=lambda: reference.shape[0],
        reference=reference,
        notes=notes(problem, ranks, precision, seed),
        clock=clock,
    )
    operation = problem.operations[0]
    return assemble(RanksExecutor(ranks), problem, precision, operation, None, prepared)


def notes(problem: Collective, ranks: Ranks, precision: str, seed: int) -> Mapping[str, str]:
    """Return notes for the record: ranks, transport, threads, inputs, what the time is of."""
    if collectives.load(problem.family).IN_PLACE:
        last = "last sum, in place"
    else:
        last = "last call, from one buffer into another"
    found = {
        "ranks": str(ranks.size),
        "transport": ranks.name,
        "threads per rank": str(rank_command.THREADS),
        "inputs": f"random odd integers times 2^-100 in blocks of {PERIOD}, seed {seed}",
        "time": f"the slowest rank's, from a barrier to its {last}",
    }
    if precision == "bfloat16" and not transport.has_bfloat16(ranks.name):
        found["type in messages"] = "16-bit integers with the bits of bfloat16"
    return found


def demand(problem: Collective, precision: str, ranks: int, name: str) -> None:
    """Raise Unsupported for a precision, or a number of ranks, that the operation cannot have.

    name: that of the transport.
    """
    known = problem.precisions
    if precision not in known:
        raise Unsupported(
            f"{problem.heading} is measured in {' and '.join(known)}, not in {precision}"
        )
    if reason := problem.indivisible(ranks):
        raise Unsupported(reason)
    if not collectives.load(problem.family).SUMS:
        return
    if precision == "bfloat16" and not transport.has_bfloat16(name):
        raise Unsupported(
            f"{name} has no type for bfloat16: it can move such numbers, and not sum them"
        )
    if addend_bits(ranks, SIGNIFICAND[precision]) < FEWEST_BITS:
        raise Unsupported(
            f"{problem.heading} of {precision} on {ranks} ranks: the sum of so many numbers cannot"
            " be compared exactly"
        )


def demand_memory(problem: Collective, precision: str, ranks: int, here: int, name: str) -> None:
    """Raise Unsupported where this machine has too little memory for `here` of `ranks` ranks."""
    contents = Contents(problem.family, problem.elements, ranks, precision)
    held = (
        contents.result_size()
        + transport.library_copies(name, contents.collective.IN_PLACE) * problem.elements
    )
    if not contents.collective.IN_PLACE:
        held += contents.operand_size()
    needed = here * (STORED[precision].itemsize * held + RANK_BYTES)
    available = free_memory.available()
    if needed > available:
        raise Unsupported(
            f"{here} ranks of {problem.elements} elements need about {needed / 2**30:.1f} GiB of"
            f" memory, and {available / 2**30:.1f} GiB are available"
        )
