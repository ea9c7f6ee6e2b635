"""Surveys of nodes: plans that every node has run, in the order of their measurements."""

import datetime
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.fleet import fleet_plan, job_folder, node_comparison
from deepbench_ops.fleet.node_comparison import NodeTimes

Nodes = Mapping[str, NodeTimes]
"""The times of the nodes of a machine type in one survey."""

HEAD = 200
"""Characters at the start of a plan's file that name its format."""

NOT_SEARCHED = frozenset(("results", "html", "store", job_folder.JOBS))
"""Folders of a project in which no surveys are looked for; nor are they in hidden ones and in
environments."""

ENVIRONMENT = "pyvenv.cfg"
"""File at the top of an environment."""


class NodeSurveys(NamedTuple):
    """The surveys of a project by machine type, oldest first, and messages about those that cannot
    be read."""

    surveys: Mapping[str, Sequence[Nodes]]
    problems: Sequence[str]


def find(project: Path) -> NodeSurveys:
    """Read the surveys of a project: plans of every node next to their jobs, in its folder or in
    one at most two below it.

    Damaged plans and jobs are left out, with a message for each.
    """
    surveys: list[Mapping[str, Nodes]] = []
    problems: list[str] = []
    folders = {folder.resolve(): folder for folder in _folders_with_jobs(project)}
    for path in (path for folder in folders.values() for path in sorted(folder.glob("*.json"))):
        try:
            if _names_its_format(path):
                made = fleet_plan.read(path)
                if made.every_node:
                    surveys.append(node_comparison.times_of(made, path, problems))
        except (DeepbenchError, OSError) as wrong:
            problems.append(f"{wrong}")
    return NodeSurveys(by_machine_type(surveys), problems)


def by_machine_type(surveys: Collection[Mapping[str, Nodes]]) -> dict[str, list[Nodes]]:
    """Return the surveys of each machine type, in the order of their last measurements.

    surveys: times of plans by machine type and node, in any order.
    """
    return {
        machine: sorted((each[machine] for each in surveys if machine in each), key=_measured_at)
        for machine in sorted({name for each in surveys for name in each})
    }


def day(seconds: float) -> str:
    """Return the day in UTC, such as 2026-11-28, of a time in seconds since 1970."""
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).date().isoformat()


def _folders_with_jobs(project: Path) -> Iterator[Path]:
    """Yield the folders that surveys may lie in. One that a link leads to may be among them twice,
    and those that cannot be read are left out."""
    searched = [
        each
        for each in sorted(project.glob("[!.]*"))
        if each.name not in NOT_SEARCHED and not any(each.glob(ENVIRONMENT))
    ]
    yield from (jobs.parent for jobs in project.glob(job_folder.JOBS))
    for folder in searched:
        for pattern in (job_folder.JOBS, f"[!.]*/{job_folder.JOBS}"):
            yield from (jobs.parent for jobs in sorted(folder.glob(pattern)))


def _names_its_format(path: Path) -> bool:
    with path.open("rb") as file:
        return fleet_plan.FORMAT.encode() in file.read(HEAD)


def _measured_at(nodes: Nodes) -> float:
    return max(each.measured_at for each in nodes.values() if each.seconds)
