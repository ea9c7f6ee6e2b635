"""A collective operation prepared for asv: the ranks of one problem, started and checked.

The framework under test decides the transport: `TRANSPORTS` of its package.
"""

from dataclasses import dataclass, replace

from deepbench_ops import problems
from deepbench_ops.backends import framework_list
from deepbench_ops.distributed import collective_kernel
from deepbench_ops.distributed.launchers import rank_placement
from deepbench_ops.distributed.launchers.launched_group import LaunchedGroup
from deepbench_ops.distributed.one_machine import rank_command
from deepbench_ops.distributed.one_machine.rank_group import RankGroup
from deepbench_ops.errors import Unsupported
from deepbench_ops.measure import kernel_measurement
from deepbench_ops.measure.kernel_sampling import Policy
from deepbench_ops.measure.yardstick_process import YardstickClient
from deepbench_ops.problems.collective import Collective
from deepbench_ops.run_conditions import EXECUTION, LAYOUT

TRANSPORTS = {
    (framework.name, device): transport
    for framework in framework_list.found()[0].values()
    for device, transport in framework.transports.items()
}
"""The transport of each framework and device, as the framework declares it."""

NO_TRANSPORT = "{} has nothing to carry messages between processes on {}"
"""Reason for a framework and device that are not in TRANSPORTS."""

PROBE_ELEMENTS = (2**18, 2**22)
"""Sizes of trial calls. The larger one is tried if the smaller one seems too slow, because many
ranks on few cores need some time to meet, which does not depend on the size."""


@dataclass(frozen=True)
class RanksBackend:
    """Ranks with the interface of a backend: transport, device and versions."""

    name: str
    device: str
    group: RankGroup | LaunchedGroup

    def versions(self) -> dict[str, str]:
        """Return the versions of rank 0's libraries, and the number of ranks."""
        return {**self.group.versions, "ranks": str(self.group.size)}


@dataclass(frozen=True)
class PreparedRanks(kernel_measurement.CheckedKernel):
    """A kernel that runs in other processes."""

    backend: RanksBackend

    @property
    def policy(self) -> Policy:
        """Return a policy with longer slices than those of a kernel in one process."""
        return collective_kernel.POLICY

    @property
    def yardstick_client(self) -> YardstickClient | None:
        """Client of the yardstick; None over several nodes, whose network it does not feel."""
        return super().yardstick_client if isinstance(self.backend.group, RankGroup) else None

    def pin(self) -> str:
        """Pin nothing, since there may be more ranks than cores."""
        return f"{self.threads} per rank, not pinned"

    def close(self) -> None:
        """End the ranks."""
        self.backend.group.close()


def prepare(family: str, problem_id: str, precision: str, ranks: int) -> PreparedRanks:
    """Start the ranks of a problem, and compare their result for a smaller size with the exact one.

    The result of the problem itself is compared after it has been timed, as for any kernel. Raises
    Unsupported, with the reason, without a transport or if one call would take longer than the
    limit; DeepbenchError if a result is wrong or a rank fails.
    """
    problem = problems.find(family, problem_id)
    assert isinstance(problem, Collective)
    name, device = kernel_measurement.framework(), kernel_measurement.device()
    if (name, device) not in TRANSPORTS:
        raise Unsupported(NO_TRANSPORT.format(name, device))
    transport = TRANSPORTS[name, device]
    collective_kernel.demand(problem, precision, ranks, transport)
    if kernel_measurement.policy().cold:
        raise Unsupported(f"{problem.heading} has no cold start: its ranks have just connected")
    for condition in (LAYOUT, EXECUTION):
        if condition.asked() != condition.usual:
            raise Unsupported(
                f"{problem.heading} has no {condition.name} but {condition.usual}"
                f" ({condition.variable})"
            )
    placement = rank_placement.asked()
    if placement and placement.ranks != ranks:
        raise Unsupported(f"these nodes have {placement.ranks} ranks, not {ranks}")
    here = placement.ranks_per_node if placement else ranks
    collective_kernel.demand_memory(problem, precision, ranks, here, transport)
    group = LaunchedGroup(transport, placement) if placement else RankGroup(transport, ranks)
    try:
        demand_time(problem, precision, group)
        kernel = collective_kernel.build(problem, group, precision)
    except BaseException:
        group.close(killing=True)
        raise
    return PreparedRanks(RanksBackend(name, device, group), kernel, rank_command.THREADS)


def demand_time(problem: Collective, precision: str, group: RankGroup | LaunchedGroup) -> None:
    """Time a call on fewer entries; raise Unsupported if a full call would exceed the limit.

    Raises DeepbenchError if the result is wrong on any rank.
    """
    limit = kernel_measurement.call_limit()
    for most in PROBE_ELEMENTS:
        fewer = most - most % group.size if problem.in_parts else most
        elements = min(problem.elements, fewer)
        kernel = collective_kernel.prepare(replace(problem, elements=elements), group, precision)
        assert kernel.clock is not None
        expected = kernel.clock(1) * problem.elements / elements
        if expected <= limit:
            return
    raise Unsupported(
        f"one call would take about {expected:.2g} s over {group.name}, more than the limit of"
        f" {limit:g} s (DEEPBENCH_CALL_LIMIT)"
    )
