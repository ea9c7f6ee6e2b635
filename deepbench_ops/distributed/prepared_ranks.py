"""An all-reduce prepared for asv: the ranks of one problem, started, checked, ready to be timed.

The framework under test decides what carries the messages: a torch release its own gloo, nccl on
GPUs; a numpy release MPI through mpi4py, where both it and mpirun are installed.
"""

from dataclasses import dataclass

from deepbench_ops import problems
from deepbench_ops.conditions import EXECUTION, LAYOUT
from deepbench_ops.distributed import all_reduce_kernel, rank_command
from deepbench_ops.distributed.rank_group import RankGroup
from deepbench_ops.errors import Unsupported
from deepbench_ops.measure import kernel_run
from deepbench_ops.measure.sampling import Policy
from deepbench_ops.problems.all_reduce import AllReduce

TRANSPORTS = {("torch", "cpu"): "gloo", ("torch", "cuda"): "nccl", ("numpy", "cpu"): "mpi"}

NO_TRANSPORT = "{} has nothing to sum over processes with on {}"
"""The reason of a framework and device that are not in TRANSPORTS."""

PROBE_ELEMENTS = (2**18, 2**22)
"""Sizes on which a call is tried: the larger where the smaller forbids the problem, since that may
tell of what many ranks on few cores spend on meeting, however little there is to sum."""


@dataclass(frozen=True)
class Ranks:
    """The ranks in the place of a backend: where they run, and what they are built of."""

    name: str
    device: str
    group: RankGroup

    def versions(self) -> dict[str, str]:
        """Return what rank 0 said of its libraries, and how many ranks there are."""
        return {**self.group.versions, "ranks": str(self.group.size)}


@dataclass(frozen=True)
class PreparedRanks(kernel_run.CheckedKernel):
    """A kernel whose work is done by other processes."""

    backend: Ranks

    @property
    def policy(self) -> Policy:
        """Longer slices than those of a kernel within one process."""
        return all_reduce_kernel.POLICY

    def pin(self) -> str:
        """Leave the scheduler alone: there may be more ranks than cores."""
        return f"{self.threads} per rank, not pinned"

    def close(self) -> None:
        """End the ranks."""
        self.backend.group.close()


def prepare(problem_id: str, precision: str, ranks: int) -> PreparedRanks:
    """Start the ranks of a problem, and compare a smaller sum of theirs with the exact one.

    The result of the problem itself is compared once it has been timed, as any kernel's. Raises
    Unsupported with the reason where there is nothing to carry the messages, or one call
    would take longer than the limit; DeepbenchError where a sum is wrong or a rank fails.
    """
    problem = problems.find(AllReduce.family, problem_id)
    assert isinstance(problem, AllReduce)
    name, device = kernel_run.framework(), kernel_run.device()
    all_reduce_kernel.demand_precision(precision)
    if (name, device) not in TRANSPORTS:
        raise Unsupported(NO_TRANSPORT.format(name, device))
    if kernel_run.policy().cold:
        raise Unsupported("an all-reduce has no cold start: its ranks have just met")
    for condition in (LAYOUT, EXECUTION):
        if condition.asked() != condition.usual:
            raise Unsupported(
                f"an all-reduce has no {condition.name} but {condition.usual}"
                f" ({condition.variable})"
            )
    all_reduce_kernel.demand_memory(problem.elements, ranks, TRANSPORTS[name, device])
    group = RankGroup(TRANSPORTS[name, device], ranks)
    try:
        demand_time(problem, group)
        kernel = all_reduce_kernel.build(problem, group)
    except BaseException:
        group.close(killing=True)
        raise
    return PreparedRanks(Ranks(name, device, group), kernel, rank_command.THREADS)


def demand_time(problem: AllReduce, group: RankGroup) -> None:
    """Sum fewer entries, and raise Unsupported when a call on all would outlast the limit.

    DeepbenchError where that sum is wrong, on whichever rank.
    """
    limit = kernel_run.call_limit()
    for most in PROBE_ELEMENTS:
        elements = min(problem.elements, most)
        kernel = all_reduce_kernel.prepare(AllReduce(elements=elements), group)
        assert kernel.clock is not None
        expected = kernel.clock(1) * problem.elements / elements
        if expected <= limit:
            return
    raise Unsupported(
        f"one call would take about {expected:.2g} s over {group.name}, more than the limit of"
        f" {limit:g} s (DEEPBENCH_CALL_LIMIT)"
    )
