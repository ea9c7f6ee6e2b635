"""The plan that a subcommand of `deepbench fleet` is about."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from deepbench_ops import project

if TYPE_CHECKING:
    from deepbench_ops.fleet.fleet_plan import Plan

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
    from deepbench_ops.fleet import fleet_plan

    return fleet_plan.read(path)


def node_hours(seconds: float) -> str:
    """Return seconds of a node in hours: to two decimals, or two digits where they are few."""
    hours = seconds / HOUR
    return f"{hours:.2f}" if hours >= 0.1 else f"{hours:.2g}"
