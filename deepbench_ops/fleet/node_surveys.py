"""Surveys of nodes: the plans in a project folder that every node has run, oldest first."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.fleet import fleet_plan, job_folder, node_comparison
from deepbench_ops.fleet.node_comparison import NodeTimes

Survey = Mapping[str, Mapping[str, NodeTimes]]
"""The times of a plan by machine type and node."""

HEAD = 200
"""Characters at the start of a plan's file that name its format."""


class NodeSurveys(NamedTuple):
    """The surveys of a project, oldest first, and messages about those that cannot be read."""

    surveys: Sequence[Survey]
    problems: Sequence[str]


def find(project: Path) -> NodeSurveys:
    """Read the surveys of a project: plans of every node one folder below it, next to their jobs.

    Damaged plans and jobs are left out, with a message for each.
    """
    surveys: list[Survey] = []
    problems: list[str] = []
    folders = sorted(each.parent for each in project.glob(f"*/{job_folder.JOBS}"))
    for path in (path for folder in folders for path in sorted(folder.glob("*.json"))):
        try:
            if _names_its_format(path):
                made = fleet_plan.read(path)
                if made.every_node:
                    surveys.append(node_comparison.times_of(made, path, problems))
        except (DeepbenchError, OSError) as wrong:
            problems.append(f"{wrong}")
    return NodeSurveys(sorted(filter(None, surveys), key=_measured_at), problems)


def _names_its_format(path: Path) -> bool:
    with path.open("rb") as file:
        return fleet_plan.FORMAT.encode() in file.read(HEAD)


def _measured_at(survey: Survey) -> float:
    return max(each.measured_at for nodes in survey.values() for each in nodes.values())
