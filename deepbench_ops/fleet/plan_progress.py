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
    expected, 1 where none is measured.
    """

    states: Counter[str]
    left_seconds: float
    pace: float

    @property
    def jobs(self) -> int:
        """Number of jobs."""
        return self.states.total()

    @property
    def seconds(self) -> float:
        """Seconds until the end, at as many jobs at once as are running now."""
        return self.left_seconds / max(1, self.states[RUNNING])


def of(plan: Plan, path: Path) -> dict[str, PlanProgress]:
    """Return the progress of each machine type of a plan; path: that of the plan."""
    found: dict[str, list[JobFolder]] = {machine: [] for machine in plan.machines}
    for folder in job_folder.folders(plan, path):
        found[folder.job.machine].append(folder)
    return {machine: progress(folders) for machine, folders in found.items()}


def progress(folders: Sequence[JobFolder]) -> PlanProgress:
    """Return the progress of some jobs."""
    states = {folder: folder.state() for folder in folders}
    pace = _pace([folder for folder, state in states.items() if state == MEASURED])
    left = sum(
        pace * folder.job.seconds - (_spent(folder, pace) if state == RUNNING else 0.0)
        for folder, state in states.items()
        if state != MEASURED
    )
    return PlanProgress(Counter(states.values()), left, pace)


def _pace(measured: Sequence[JobFolder]) -> float:
    expected = sum(folder.job.seconds for folder in measured)
    ends = [outcome for folder in measured if (outcome := folder.outcome())]
    return sum(outcome.seconds for outcome in ends) / expected if expected else 1.0


def _spent(folder: JobFolder, pace: float) -> float:
    """Return the seconds that a running job has taken, at most those expected."""
    spent = time.time() - folder.begun_at if folder.begun_at else 0.0
    return min(max(0.0, spent), pace * folder.job.seconds)
