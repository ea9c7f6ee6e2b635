"""The plan that a subcommand of `deepbench fleet` is about."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from deepbench_ops import project

if TYPE_CHECKING:
    from deepbench_ops.fleet.job_plan import Plan

PLAN = Path("fleet", "plan.json")
"""Its place below the project folder, where none is named."""

HOUR = 3600.0

plan_argument = click.argument(
    "path", metavar="[PLAN]", required=False, type=click.Path(path_type=Path, dir_okay=False)
)


def path_of(path: Path | None) -> Path:
    """Return the path of the plan that is named, else the usual one."""
    return path or project.root() / PLAN


def read(path: Path) -> "Plan":
    """Return the plan of a file."""
    from deepbench_ops.fleet import job_plan

    return job_plan.read(path)
