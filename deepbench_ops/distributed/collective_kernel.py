"""A collective operation as a kernel, on the ranks of a group or of a launcher."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np

from deepbench_ops.backends import free_memory
from deepbench_ops.backends.backend_interface import done
from deepbench_ops.backends.kernel import Index, Kernel
from deepbench_ops.backends.kernel_assembly import Prepared, assemble
from deepbench_ops.distributed import collectives, transport_interface
from deepbench_ops.distributed.initial_vectors import PERIOD, SIGNIFICAND, addend_bits
from deepbench_ops.distributed.one_machine import rank_command
from deepbench_ops.distributed.rank_contents import STORED, Contents
from deepbench_ops.errors import Unsupported
from deepbench_ops.measure.kernel_sampling import Policy
from deepbench_ops.problems.collective import Collective

POLICY = Policy(slice_seconds=0.05, budget_seconds=1.5, target=0.01, min_samples=6)
"""Policy with longer slices, because sums between processes vary with the scheduler: medians of
four ranks on two cores differed by 8 to 15 % between groups with the usual 8 ms, by 2 to 7 %
with these."""

FEWEST_BITS = 2
"""Least number of bits, with the sign, of an entry that is summed."""

RANK_BYTES = 64 * 2**20
"""Bytes of memory of a rank in addition to its vectors, for Python and its libraries."""


class Ranks(Protocol):
    """A `RankGroup` on this machine, or the ranks of a launcher that rank 0 leads.

    name: name of the transport. size: number of ranks. here: number of them on this machine.
    """

    name: str
    size: int
    here: int
    versions: dict[str, str]

    def ask(self, do: str, **details: object) -> list[dict[str, Any]]:
        """Give all ranks the order `do`; return their answers by rank."""


@dataclass(frozen=True)
class CollectiveReference:
    """Reference of the result of rank 0; no error is allowed."""

    contents: Contents

    @property
    def shape(self) -> tuple[int]:
        """Shape of the result, (entries of rank 0's result,)."""
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

    Raises DeepbenchError, with the rank, for a wrong result; Unsupported for a combination that the
    transport does not have, or that needs more memory than available.
    """
    kernel = build(problem, ranks, precision, seed)
    kernel.run()
    ranks.ask("verify")
    return kernel


@dataclass(frozen=True)
class RanksExecutor:
    """Ranks as the executor of a kernel; see `kernel_assembly.Executor`."""

    ranks: Ranks

    @property
    def name(self) -> str:
        """Name of the ranks' transport."""
        return self.ranks.name

    @property
    def device(self) -> str:
        """Number of ranks as text, such as "4 ranks"."""
        return f"{self.ranks.size} ranks"

    @property
    def synchronise(self) -> Callable[[], object]:
        """Function that does nothing, since ranks answer an order after they have carried it
        out."""
        return done

    def read(self, output: int, index: tuple[Any, ...]) -> np.ndarray:
        """Return entries of rank 0's result of `output` entries; the index () means all.

        Every rank compares all entries of its own result first, because those of rank 0 do not show
        errors of others. Raises DeepbenchError, with the rank, for a wrong result.
        """
        entries = index[0] if index else np.arange(output)
        self.ranks.ask("verify")
        return np.array(self.ranks.ask("peek", entries=entries.tolist())[0]["values"])


def build(problem: Collective, ranks: Ranks, precision: str = "float32", seed: int = 0) -> Kernel:
    """Give every rank its vectors, and return the kernel that calls the operation.

    When its output is read, every rank compares all entries. Raises Unsupported as `prepare` does.
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
    """Return notes for the record: ranks, transport, threads, inputs, and the meaning of the
    time."""
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
    if precision == "bfloat16" and not transport_interface.has_bfloat16(ranks.name):
        found["type in messages"] = "16-bit integers with the bits of bfloat16"
    return found


def demand(problem: Collective, precision: str, ranks: int, name: str) -> None:
    """Raise Unsupported for a precision or a number of ranks that the operation cannot have.

    name: name of the transport.
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
    if precision == "bfloat16" and not transport_interface.has_bfloat16(name):
        raise Unsupported(
            f"{name} has no type for bfloat16: it can move such numbers but not sum them"
        )
    if addend_bits(ranks, SIGNIFICAND[precision]) < FEWEST_BITS:
        raise Unsupported(
            f"{problem.heading} of {precision} on {ranks} ranks: sums over this number of ranks are"
            " not exact and cannot be checked"
        )


def demand_memory(problem: Collective, precision: str, ranks: int, here: int, name: str) -> None:
    """Raise Unsupported where this machine has too little memory for `here` of `ranks` ranks."""
    contents = Contents(problem.family, problem.elements, ranks, precision)
    held = (
        contents.result_size()
        + transport_interface.library_copies(name, contents.collective.IN_PLACE) * problem.elements
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
