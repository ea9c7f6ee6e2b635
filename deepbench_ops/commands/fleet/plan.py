"""`deepbench fleet plan`: which releases are measured on which machine types, in which jobs."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from deepbench_ops.commands import terminal_tables
from deepbench_ops.commands.fleet.plan_file import HOUR, PLAN, path_of, plan_argument
from deepbench_ops.commands.options import printed_as, results_folder, say
from deepbench_ops.commands.output_format import counted, show
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.problems import ALL_PRECISIONS, FAMILIES, SELECTIONS

if TYPE_CHECKING:
    from deepbench_ops.fleet.job_plan import Job, Plan

MATRIX = (
    terminal_tables.Column("machine type"),
    terminal_tables.Column("release"),
    terminal_tables.Column("jobs", right=True),
    terminal_tables.Column("points", right=True),
    terminal_tables.Column("node hours", right=True),
    terminal_tables.Column("families", wrap=20, drop=1),
)


@click.command("plan")
@plan_argument
@click.option("--system", metavar="SITE", default="", help="A system of ReFrame's configuration.")
@click.option(
    "--config",
    metavar="FILE",
    default="",
    type=click.Path(dir_okay=False),
    help="ReFrame's configuration.  [default: the one that ReFrame finds]",
)
@click.option(
    "--machine-types",
    metavar="NAMES",
    help="Only these, separated by commas.  [default: all partitions of the system]",
)
@click.option(
    "--framework",
    "frameworks",
    metavar="F",
    multiple=True,
    help="Only this framework; may be repeated.",
)
@click.option(
    "--releases",
    metavar="RELEASES",
    help="Of one framework, such as 1.26.4..2.4.6.  [default: the newest]",
)
@click.option(
    "--selection",
    type=click.Choice(SELECTIONS),
    default="headline",
    show_default=True,
    help="The problems.",
)
@click.option(
    "--family",
    "families",
    type=click.Choice(FAMILIES),
    multiple=True,
    help="Only this family; may be repeated.",
)
@click.option(
    "--precision",
    "precisions",
    type=click.Choice(ALL_PRECISIONS),
    multiple=True,
    default=("float32",),
    show_default=True,
    help="The precision; may be repeated.",
)
@click.option(
    "--job-hours",
    type=click.FloatRange(min=0, min_open=True),
    default=1.0,
    show_default=True,
    help="About how long a job may take; families are put together up to it.",
)
@click.option(
    "--every-node",
    is_flag=True,
    help="Run each job on every node, to compare the nodes; nothing is merged into results/.",
)
@results_folder
@printed_as("table", "json")
def make(
    path: Path | None,
    system: str,
    config: str,
    machine_types: str | None,
    frameworks: tuple[str, ...],
    releases: str | None,
    selection: str,
    families: tuple[str, ...],
    precisions: tuple[str, ...],
    job_hours: float,
    every_node: bool,
    results: Path,
    form: str,
) -> None:
    """Write a plan: releases by machine types, in jobs of about an hour.

    \b
        deepbench fleet plan
        deepbench fleet plan --system site --config site.py --framework torch
        deepbench fleet plan --framework numpy --releases 1.26.4..2.4.6 --family gemm

    Each partition of the system is a machine type, of that name or of the extra deepbench_machine
    in ReFrame's configuration. Node hours are expected from the records of earlier points, without
    the time that environments take. PLAN (default: fleet/plan.json) lies in a folder of its own, on
    a disk that all nodes share; the folders of its jobs are made next to it.
    """
    from deepbench_ops import project
    from deepbench_ops.asv_adapter import machine_entry
    from deepbench_ops.fleet import job_plan as plans
    from deepbench_ops.fleet import plan_generation, reframe_site
    from deepbench_ops.fleet.job_folder import JOBS

    path = path_of(path)
    if (path.parent / JOBS).exists():
        raise DeepbenchError(
            f"{path.parent / JOBS} holds the jobs of an earlier plan: name a plan in another"
            " folder, or remove that folder"
        )
    if project.find(path.absolute().parent) is None:
        raise DeepbenchError(f"{path} lies in no project folder: name one in it, such as {PLAN}")
    if config:
        config = str(Path(config).resolve())
    place = (
        reframe_site.read(system, config)
        if system or config
        else reframe_site.here(
            machine_entry.check_name(machine_types or machine_entry.default_name())
        )
    )
    request = plan_generation.PlanRequest(
        _machines(machine_types, place.machines, place.system),
        plan_generation.releases(results, frameworks, releases),
        selection,
        precisions,
        job_hours * HOUR,
        families,
        place.system if system or config else "",
        config,
        every_node,
    )
    made = plan_generation.make(request, results)
    plans.write(path, made)
    show(form, lambda: _matrix(made), lambda: _document(made))
    say([_total(made, path)], form)


def _machines(named: str | None, known: tuple[str, ...], system: str) -> tuple[str, ...]:
    """Return the machine types asked for. Raises DeepbenchError for an unknown one."""
    from deepbench_ops.problems.suggestions import unknown

    if named is None:
        return known
    found = tuple(dict.fromkeys(filter(None, named.replace(" ", "").split(","))))
    for name in found:
        if name not in known:
            raise unknown(f"machine type of {system}", name, known)
    return found


def _by_release(found: "Plan") -> "dict[tuple[str, str], list[Job]]":
    jobs: dict[tuple[str, str], list[Job]] = {}
    for job in found.jobs:
        jobs.setdefault((job.machine, job.release), []).append(job)
    return jobs


def _matrix(found: "Plan") -> str:
    """Return the plan as a table, a row for each machine type and release."""
    rows = [
        [
            machine,
            release,
            str(len(jobs)),
            str(sum(job.points for job in jobs)),
            f"{sum(job.seconds for job in jobs) / HOUR:.2f}",
            "; ".join(", ".join(job.families) for job in jobs),
        ]
        for (machine, release), jobs in _by_release(found).items()
    ]
    return terminal_tables.table(MATRIX, rows)


def _document(found: "Plan") -> dict[str, object]:
    return {
        "node_hours": round(_hours(found), 3),
        "jobs": [
            {
                "id": job.id,
                "machine": job.machine,
                "release": job.release,
                "families": list(job.families),
                "points": job.points,
                "node_hours": round(job.seconds / HOUR, 4),
            }
            for job in found.jobs
        ],
    }


def _total(found: "Plan", path: Path) -> str:
    on = " on every node" if found.every_node else ""
    return (
        f"{path}: {counted(len(found.jobs), 'job')}, about {_hours(found):.1f} node hours{on};"
        " deepbench fleet run measures them"
    )


def _hours(found: "Plan") -> float:
    return sum(job.seconds for job in found.jobs) / HOUR
