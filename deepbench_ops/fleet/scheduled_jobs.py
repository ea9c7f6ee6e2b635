"""The jobs of a plan as a scheduler is to run them: partition, command line and time limit.

The ReFrame tests in `checks/` read them; so all that is decided about a job is decided here.
"""

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from deepbench_ops.distributed.launchers.rank_placement import RankPlacement
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.fleet import fleet_plan as plans
from deepbench_ops.fleet import job_folder, reframe_site
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

    def is_measured(self, id: str, node: str) -> bool:
        """Whether a node has measured a job."""
        folder = job_folder.folder_of(self.plan, self.path, self.plan.job(id), node)
        return folder.state() == MEASURED

    def partition(self, id: str) -> str:
        """Return the partition of a job, as ReFrame names it. Raises DeepbenchError for none."""
        machine_type = self.plan.machine_type(self.plan.job(id).machine)
        return self.site.partition_of(machine_type).name

    @property
    def ranks(self) -> int:
        """Number of processes that each job starts, on all of its nodes."""
        return self.plan.placement.ranks if self.plan.placement else 1

    @property
    def ranks_per_node(self) -> int:
        """Number of processes that each job starts on each of its nodes."""
        return self.plan.placement.ranks_per_node if self.plan.placement else 1

    def arguments(self, id: str) -> list[str]:
        """Return the arguments of `python` in the job script, quoted for a shell."""
        module = ("-m", "deepbench_ops.fleet.node_job")
        return [shlex.quote(each) for each in (*module, str(self.path), id, self.plan.digest)]

    def most_seconds(self, id: str) -> int:
        """Return the time limit of a job."""
        return LEAST_SECONDS + round(TIMES_EXPECTED * self.plan.job(id).seconds)

    @staticmethod
    def demand_python(python: str) -> str:
        """Return the line of a job script that ends the job on a node without this Python."""
        quoted = shlex.quote(python)
        line = f"the node has no Python at {quoted}: install the project where all nodes see it"
        return f'[ -x {quoted} ] || {{ echo "$(hostname): {line}" >&2; exit 1; }}'


def ask_flux_for_a_node(job: Any, seconds: float) -> None:
    """Ask Flux for a whole node, and for a time limit in seconds.

    ReFrame describes the job to Flux before it knows either: one core, without a limit. job:
    ReFrame's job of a test, whose `fluxjob` is a job specification of Flux.
    """
    known = job.fluxjob
    command = ["/bin/bash", job.script_filename]
    whole = type(known).from_command(command=command, num_tasks=1, num_nodes=1, exclusive=True)
    for name in ("stdout", "stderr", "cwd", "environment"):
        setattr(whole, name, getattr(known, name))
    whole.duration = seconds
    job.fluxjob = whole


def cancel_over_ssh(job: Any) -> None:
    """End the connections of a job by ssh; its processes end with them.

    ReFrame 4.10 signals the first of a job's commands, the copy of its files, and fails where that
    has ended. job: ReFrame's job of a test, with a command for each step.
    """
    for step in job.steps.values():
        if step.started() and not step.done():
            step.cancel()


def of(path: Path, plan: Plan) -> FleetJobs:
    """Return the jobs of a plan, whose site ReFrame is asked for.

    Raises DeepbenchError as `demand_launcher` does.
    """
    place = (
        reframe_site.read(plan.system, plan.config)
        if plan.system
        else reframe_site.here(plan.machine_types[0])
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


def from_environment(partitions: Sequence[Partition]) -> FleetJobs:
    """Return the jobs of the plan that `PLAN_VARIABLE` names, for a running ReFrame.

    partitions: of its system. Raises DeepbenchError for no plan.
    """
    named = os.environ.get(PLAN_VARIABLE)
    if not named:
        raise DeepbenchError(f"set {PLAN_VARIABLE} to the file that deepbench fleet plan wrote")
    plan = plans.read(Path(named))
    place = Site(plan.system, plan.config, tuple(partitions))
    if not plan.system:
        place = reframe_site.here(plan.machine_types[0])
    return FleetJobs(Path(named).resolve(), plan, place)
