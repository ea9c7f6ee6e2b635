"""The plan that a subcommand of `deepbench fleet` is about."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from deepbench_ops import project

if TYPE_CHECKING:
    from deepbench_ops.fleet.fleet_plan import Plan

F = TypeVar("F", bound=Callable[..., Any])

PLAN = Path("fleet", "plan.json")
"""Its place below the project folder, where none is named."""

HOUR = 3600.0

plan_argument = click.argument(
    "path", metavar="[PLAN]", required=False, type=click.Path(path_type=Path, dir_okay=False)
)


def site_options(usual_system: str, usual_config: str) -> Callable[[F], F]:
    """Return the decorator that gives a command --system and --config; config comes as a whole
    path. Both are "" unless given, which means the usual ones that their help names."""

    def whole(_: click.Context, __: click.Parameter, given: str) -> str:
        return str(Path(given).resolve()) if given else ""

    def decorated(command: F) -> F:
        for option in (
            click.option(
                "--config",
                metavar="FILE",
                default="",
                type=click.Path(dir_okay=False),
                callback=whole,
                help=f"ReFrame's configuration.  [default: {usual_config}]",
            ),
            click.option(
                "--system",
                metavar="SITE",
                default="",
                help=f"A system of ReFrame's configuration.  [default: {usual_system}]",
            ),
        ):
            command = option(command)
        return command

    return decorated


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
