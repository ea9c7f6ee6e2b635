"""Progress of a plan: jobs by state, node hours and time left."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from deepbench_ops.fleet import job_folder
from deepbench_ops.fleet.fleet_plan import Plan
from deepbench_ops.fleet.job_folder import MEASURED, RUNNING, JobFolder


@dataclass(frozen=True)
class PlanProgress:
    """States of the jobs of a plan, or of one machine type.

    left_seconds: node seconds that are left. pace: seconds that the measured jobs took over those
    expected, 1 where none is measured. not_merged: jobs with times that are not in the results of
    the project. nodes: of a job.
    """

    states: Counter[str]
    left_seconds: float
    pace: float
    not_merged: int = 0
    nodes: int = 1

    @property
    def jobs(self) -> int:
        """Number of jobs."""
        return self.states.total()

    @property
    def seconds(self) -> float:
        """Seconds until the end, at as many jobs at once as are running now."""
        return self.left_seconds / self.nodes / max(1, self.states[RUNNING])


def of(plan: Plan, path: Path) -> dict[str, PlanProgress]:
    """Return the progress of each machine type of a plan; path: that of the plan."""
    found: dict[str, list[JobFolder]] = {machine: [] for machine in plan.machines}
    for folder in job_folder.folders(plan, path):
        found[folder.job.machine].append(folder)
    return {machine: _progress(plan, folders) for machine, folders in found.items()}


def _progress(plan: Plan, folders: Sequence[JobFolder]) -> PlanProgress:
    """Return the progress of some jobs of a plan."""
    states = {folder: folder.state() for folder in folders}
    pace = _pace([folder for folder, state in states.items() if state == MEASURED])
    left = sum(
        pace * _expected(folder) - (_spent(folder, pace) if state == RUNNING else 0.0)
        for folder, state in states.items()
        if state != MEASURED
    )
    not_merged = 0 if plan.every_node else sum(folder.awaits_merge for folder in folders)
    nodes = plan.nodes_of_a_job
    return PlanProgress(Counter(states.values()), left * nodes, pace, not_merged, nodes)


def _pace(measured: Sequence[JobFolder]) -> float:
    expected = sum(folder.job.seconds for folder in measured)
    ends = [outcome for folder in measured if (outcome := folder.outcome())]
    return sum(outcome.seconds for outcome in ends) / expected if expected else 1.0


def _expected(folder: JobFolder) -> float:
    """Return the seconds expected of a job that is not measured: of its failed kernels alone where
    it has measured the others."""
    outcome = folder.outcome()
    failed = outcome.failed_kernels if outcome else folder.failed_before
    share = failed / folder.job.points if failed else 1.0
    return min(1.0, share) * folder.job.seconds


def _spent(folder: JobFolder, pace: float) -> float:
    """Return the seconds that a running job has taken, at most those expected."""
    spent = time.time() - folder.begun_at if folder.begun_at else 0.0
    return min(max(0.0, spent), pace * _expected(folder))
