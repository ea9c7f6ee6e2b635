"""The jobs of a plan as a scheduler is to run them: partition, command line and time limit.

The ReFrame tests in `checks/` read them; so all that is decided about a job is decided here.
"""

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.fleet import job_folder, reframe_site
from deepbench_ops.fleet import job_plan as plans
from deepbench_ops.fleet.job_folder import MEASURED
from deepbench_ops.fleet.job_plan import Plan
from deepbench_ops.fleet.reframe_site import Partition, Site

PLAN_VARIABLE = "DEEPBENCH_FLEET_PLAN"
"""Names the plan for the ReFrame tests."""

LEAST_SECONDS, TIMES_EXPECTED = 3600, 3
"""Time limit of a job: the first, for environments and the description of its machine type, and so
many times the expected seconds. A job that ends at its limit goes on in the next run."""

OPTIONS = {
    "pbs": ["-l place=exclhost"],
    "slurm": ["--no-requeue"],
    "squeue": ["--no-requeue"],
    "torque": ["-l naccesspolicy=singlejob"],
}
"""Options by scheduler: a node of its own where ReFrame does not ask for one, and no second start
of a job that was lost, since the next run goes on from what is measured."""

BINDING = ("flux", "pbs", "torque")
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
        return self.site.partition_of(self.plan.job(id).machine).name

    def arguments(self, id: str) -> list[str]:
        """Return what follows `python` in the job script, quoted for a shell."""
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


def of(path: Path, plan: Plan) -> FleetJobs:
    """Return the jobs of a plan, whose site ReFrame is asked for.

    Raises DeepbenchError for a machine type without a partition.
    """
    place = (
        reframe_site.read(plan.system, plan.config)
        if plan.system
        else reframe_site.here(plan.machines[0])
    )
    for machine in plan.machines:
        place.partition_of(machine)
    return FleetJobs(path.resolve(), plan, place)


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
        place = reframe_site.here(plan.machines[0])
    return FleetJobs(Path(named).resolve(), plan, place)
