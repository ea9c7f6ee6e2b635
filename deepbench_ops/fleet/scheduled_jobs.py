"""The jobs of a plan as a scheduler is to run them: partition, command line and time limit.

The ReFrame tests in `checks/` get them as JSON (`job_list`); so all that is decided about a job is
decided here.
"""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from deepbench_ops.distributed.launchers.rank_placement import RankPlacement
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.fleet import job_folder, reframe_site, sbatch_options, slurm_nodes
from deepbench_ops.fleet.fleet_plan import Plan
from deepbench_ops.fleet.job_folder import MEASURED
from deepbench_ops.fleet.reframe_site import Partition, Site

PLAN_VARIABLE = "DEEPBENCH_FLEET_PLAN"
"""Names the plan for the ReFrame tests."""

LEAST_SECONDS, TIMES_EXPECTED = 3600, 3
"""Time limit of a job: the first, for environments and the description of its machine type, and so
many times the expected seconds. A job that ends at its limit goes on in the next run."""

OPTIONS = {
    "lsf": ["-rn"],
    "pbs": ["-l place=exclhost", "-r n"],
    "slurm": ["--no-requeue"],
    "squeue": ["--no-requeue"],
    "torque": ["-l naccesspolicy=singlejob", "-r n"],
}
"""Options by scheduler: a node of its own where ReFrame does not ask for one, and no second start
of a job that was lost, since the next run goes on from the measured kernels."""

SLURM = ("slurm", "squeue")
"""ReFrame's names of Slurm."""

ONE_NODE = ("flux", "ssh")
"""Schedulers whose jobs get a single node from ReFrame."""

BINDING = ("pbs", "torque")
"""Schedulers that bind a job to the processors that it asks for, also on a node of its own."""


DEMAND_PYTHON = (
    "[ -x PYTHON ] || {"
    " printf '%s: the node has no Python at %s: install the project where all nodes see it\\n'"
    ' "$(hostname)" PYTHON >&2; exit 1; }'
)
"""Line of a job script that ends the job on a node without the Python, whose path, quoted for a
shell, is put in the places of PYTHON."""


@dataclass(frozen=True)
class FleetJobs:
    """The jobs of a plan at a site; path: that of the plan."""

    path: Path
    plan: Plan
    site: Site

    @cached_property
    def open_jobs(self) -> list[str]:
        """Ids of the jobs that are not measured; of a plan for every node all."""
        if self.plan.every_node:
            return [job.id for job in self.plan.jobs]
        return [
            folder.job.id
            for folder in job_folder.folders(self.plan, self.path)
            if folder.state() != MEASURED
        ]

    def partition(self, id: str) -> str:
        """Return the partition of a job, as ReFrame names it. Raises DeepbenchError for none."""
        machine_type = self.plan.machine_type(self.plan.job(id).machine)
        return self.site.partition_of(machine_type).name

    @property
    def partitions(self) -> list[Partition]:
        """The partitions of the plan's machine types."""
        return [self.site.partition_of(each) for each in self.plan.machine_types]

    @property
    def by_slurm(self) -> bool:
        """Whether Slurm schedules any of the plan's jobs."""
        return any(each.scheduler in SLURM for each in self.partitions)

    @property
    def ranks(self) -> int:
        """Number of processes that each job starts, on all of its nodes."""
        return self.plan.placement.ranks if self.plan.placement else 1

    @property
    def ranks_per_node(self) -> int:
        """Number of processes that each job starts on each of its nodes."""
        return self.plan.placement.ranks_per_node if self.plan.placement else 1

    def left_out(self, options: Sequence[str] = ()) -> dict[str, str]:
        """Return a line for each node that no job of a plan for every node gets from Slurm now, and
        that has not measured all of them, by its name.

        options: those of ReFrame; none is known where they name another partition.
        """
        found: dict[str, str] = {}
        if self.plan.every_node:
            more = sbatch_options.of(options)
            if not any(map(sbatch_options.NAMES_PARTITION.search, more)):
                for part in self.partitions:
                    if part.scheduler in SLURM and part.of_slurm:
                        found |= slurm_nodes.all_left_out(part.of_slurm, [*part.access, *more])
        done = self.measured_nodes() if found else set()
        return {node: line for node, line in found.items() if node not in done}

    def measured_nodes(self) -> set[str]:
        """Return the nodes that have measured each job of a plan for every node and their type."""
        measured: dict[str, bool] = {}
        for folder in job_folder.folders(self.plan, self.path):
            if measured.get(folder.node, True):
                measured[folder.node] = folder.state() == MEASURED
        return {node for node, all_of_them in measured.items() if all_of_them}

    def arguments(self, id: str) -> list[str]:
        """Return the arguments of `python` in the job script, quoted for a shell."""
        module = ("-m", "deepbench_ops.fleet.node_job")
        return [shlex.quote(each) for each in (*module, str(self.path), id, self.plan.digest)]

    def most_seconds(self, id: str) -> int:
        """Return the time limit of a job."""
        return LEAST_SECONDS + round(TIMES_EXPECTED * self.plan.job(id).seconds)


def of(path: Path, plan: Plan, system: str = "", config: str = "") -> FleetJobs:
    """Return the jobs of a plan, whose site ReFrame is asked for.

    system, config: in the place of the plan's own, "" for those. Raises DeepbenchError as
    `demand_launcher` does.
    """
    system, config = system or plan.system, config or plan.config
    place = (
        reframe_site.read(system, config) if system else reframe_site.here(plan.machine_types[0])
    )
    demand_launcher(place, plan.machine_types, plan.placement)
    return FleetJobs(path.resolve(), plan, place)


def demand_launcher(
    place: Site, machine_types: Sequence[str], placement: RankPlacement | None
) -> None:
    """Raise DeepbenchError for a machine type without a partition, and for one whose scheduler
    cannot have jobs of this placement started by its launcher."""
    for machine in machine_types:
        partition = place.partition_of(machine)
        if placement is None:
            continue
        scheduler = partition.scheduler
        if placement.launcher == "srun" and scheduler not in SLURM:
            raise DeepbenchError(
                f"{partition.name} is scheduled by {scheduler}, and srun starts ranks of Slurm:"
                " give --launcher mpirun or torchrun"
            )
        if scheduler in ONE_NODE and not placement.hosts:
            raise DeepbenchError(
                f"{partition.name} is scheduled by {scheduler}, which gives a job one node: name"
                " the others with --hosts, that of the job first"
            )
