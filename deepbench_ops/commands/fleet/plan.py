"""`deepbench fleet plan`: which releases are measured on which machine types, in which jobs."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from deepbench_ops.commands import terminal_tables
from deepbench_ops.commands.fleet.plan_file import (
    HOUR,
    PLAN,
    node_hours,
    path_of,
    plan_argument,
    site_options,
)
from deepbench_ops.commands.options import printed_as, results_folder_to_write, say
from deepbench_ops.commands.output_format import counted, show
from deepbench_ops.distributed.launchers.rank_placement import LAUNCHERS
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.problems import ALL_PRECISIONS, FAMILIES, SELECTIONS

if TYPE_CHECKING:
    from deepbench_ops.distributed.launchers.rank_placement import RankPlacement
    from deepbench_ops.fleet.fleet_plan import Job, Plan
    from deepbench_ops.fleet.planned_training import PlannedTraining
    from deepbench_ops.fleet.reframe_site import Site

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
@site_options("none: this machine", "the one that ReFrame finds")
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
@click.option(
    "--nodes",
    metavar="N",
    type=int,
    help="Collective operations, or --training, over N nodes.",
)
@click.option(
    "--ranks-per-node", metavar="R", type=int, default=1, show_default=True, help="With --nodes."
)
@click.option(
    "--interconnect",
    metavar="NAME",
    help="The network between --nodes, such as hdr200; it becomes a part of the profile's name.",
)
@click.option(
    "--launcher",
    type=click.Choice(tuple(LAUNCHERS)),
    help="The program that starts the ranks.  [default: srun with --system, else torchrun]",
)
@click.option(
    "--hosts",
    metavar="NAMES",
    default="",
    help="Of torchrun and mpirun, separated by commas; the first one runs the job.",
)
@click.option(
    "--training",
    "models",
    metavar="MODEL",
    multiple=True,
    help="Data-parallel training of MODEL over the --nodes; may be repeated.",
)
@click.option(
    "--batch", metavar="B", type=int, help="Inputs of each rank, with --training.  [default: 8]"
)
@click.option(
    "--split", is_flag=True, help="With --training: tables over the ranks, instead of copies."
)
@click.option("--replace", is_flag=True, help="Replace another plan that PLAN holds.")
@results_folder_to_write
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
    nodes: int | None,
    ranks_per_node: int,
    interconnect: str | None,
    launcher: str | None,
    hosts: str,
    models: tuple[str, ...],
    batch: int | None,
    split: bool,
    replace: bool,
    results: Path,
    form: str,
) -> None:
    """Write a plan: releases by machine types, in jobs of about an hour.

    \b
        deepbench fleet plan
        deepbench fleet plan --system site --config site.py --framework torch
        deepbench fleet plan --framework numpy --releases 1.26.4..2.4.6 --family gemm
        deepbench fleet plan --system site --framework torch --nodes 2 --ranks-per-node 4 \\
            --interconnect hdr200
        deepbench fleet plan --system site --nodes 2 --interconnect hdr200 --training resnet50

    Each partition of the system is a machine type, of that name or of the extra deepbench_machine
    in ReFrame's configuration. Node hours are expected from the records of earlier points, without
    the time that environments take. With --training and no --family trainings alone are planned.
    PLAN (default: fleet/plan.json) lies in a folder of its own, on a disk that all nodes share; the
    folders of its jobs are made next to it.
    """
    from deepbench_ops import project
    from deepbench_ops.asv_adapter import machine_entry
    from deepbench_ops.fleet import fleet_plan as plans
    from deepbench_ops.fleet import plan_generation, reframe_site, scheduled_jobs
    from deepbench_ops.fleet.job_folder import JOBS
    from deepbench_ops.fleet.planned_training import FRAMEWORK

    trainings = _trainings(models, batch, precisions, split)
    path = path_of(path)
    if (path.parent / JOBS).exists():
        raise DeepbenchError(
            f"{path.parent / JOBS} holds the jobs of an earlier plan: name a plan in another"
            " folder, or remove that folder"
        )
    if project.find(path.absolute().parent) is None:
        raise DeepbenchError(f"{path} lies in no project folder: name one in it, such as {PLAN}")
    place = (
        reframe_site.read(system, config)
        if system or config
        else reframe_site.here(
            machine_entry.check_name(machine_types or machine_entry.default_name())
        )
    )
    usual = (FRAMEWORK,) if trainings else ()
    request = plan_generation.PlanRequest(
        _machines(machine_types, place),
        plan_generation.releases(results, frameworks or usual, releases),
        selection,
        precisions,
        job_hours * HOUR,
        families,
        place.system if system or config else "",
        config,
        every_node,
        _placement(nodes, ranks_per_node, launcher, interconnect, hosts, bool(system or config)),
        trainings,
    )
    if every_node and request.placement:
        raise DeepbenchError("--every-node is for jobs on one node: leave out --nodes")
    if every_node:
        place.demand_node_lists()
    scheduled_jobs.demand_launcher(place, request.machines, request.placement)
    made = plan_generation.make(request, results)
    if not replace:
        _refuse_another(path, made)
    plans.write(path, made)
    show(form, lambda: _matrix(made), lambda: _document(made))
    left_out = scheduled_jobs.FleetJobs(path, made, place).left_out()
    say([*left_out.values(), _total(made, path)], form)


def _refuse_another(path: Path, made: "Plan") -> None:
    """Raise DeepbenchError where a file holds another plan; a damaged plan is none."""
    from deepbench_ops.fleet import fleet_plan

    try:
        there = fleet_plan.read(path)
    except DeepbenchError:
        return
    if there != made:
        raise DeepbenchError(
            f"{path} holds another plan, of {counted(len(there.jobs), 'job')}: name another file,"
            " or replace it with --replace"
        )


def _placement(
    nodes: int | None,
    ranks_per_node: int,
    launcher: str | None,
    interconnect: str | None,
    hosts: str,
    at_a_site: bool,
) -> "RankPlacement | None":
    """Return the placement of ranks over several nodes, None for jobs on one node.

    Raises DeepbenchError for numbers and names that it cannot have.
    """
    from deepbench_ops.distributed.launchers.rank_placement import USUAL_LAUNCHER, RankPlacement

    named = tuple(filter(None, hosts.replace(" ", "").split(",")))
    if nodes is None:
        if interconnect or launcher or named or ranks_per_node != 1:
            raise DeepbenchError(
                "--nodes is missing: --ranks-per-node, --interconnect, --launcher and --hosts are"
                " for jobs over several nodes"
            )
        return None
    if interconnect is None:
        raise DeepbenchError("--interconnect is missing: name the network, such as hdr200")
    usual = USUAL_LAUNCHER if at_a_site else "torchrun"
    return RankPlacement(nodes, ranks_per_node, launcher or usual, interconnect, named)


def _trainings(
    models: tuple[str, ...], batch: int | None, precisions: tuple[str, ...], split: bool
) -> "tuple[PlannedTraining, ...]":
    """Return a training of each model in each precision. Raises DeepbenchError for wrong ones."""
    from deepbench_ops.fleet.planned_training import BATCH, PlannedTraining

    if not models and (batch is not None or split):
        raise DeepbenchError("--training is missing: --batch and --split are for the training")
    return tuple(
        PlannedTraining(model, BATCH if batch is None else batch, precision, split)
        for model in dict.fromkeys(models)
        for precision in dict.fromkeys(precisions)
    )


def _machines(named: str | None, place: "Site") -> tuple[str, ...]:
    """Return the machine types asked for, also by their partitions. Raises DeepbenchError for an
    unknown one."""
    if named is None:
        return place.machines
    names = dict.fromkeys(filter(None, named.replace(" ", "").split(",")))
    return tuple(dict.fromkeys(place.partition_of(name).machine for name in names))


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
            node_hours(found.nodes_of_a_job * sum(job.seconds for job in jobs)),
            "; ".join(_content(job) for job in jobs),
        ]
        for (machine, release), jobs in _by_release(found).items()
    ]
    return terminal_tables.table(MATRIX, rows)


def _content(job: "Job") -> str:
    """Return the families of a job, or its training."""
    return f"training of {job.training.name}" if job.training else ", ".join(job.families)


def _document(found: "Plan") -> dict[str, object]:
    return {
        "node_hours": round(_seconds(found) / HOUR, 3),
        "jobs": [
            {
                "id": job.id,
                "machine": job.machine,
                "release": job.release,
                "families": list(job.families),
                "training": job.training and asdict(job.training),
                "points": job.points,
                "node_hours": round(found.nodes_of_a_job * job.seconds / HOUR, 4),
            }
            for job in found.jobs
        ],
    }


def _total(found: "Plan", path: Path) -> str:
    hours = "hours of each node" if found.every_node else "node hours"
    return (
        f"{path}: {counted(len(found.jobs), 'job')}, about {node_hours(_seconds(found))} {hours};"
        " deepbench fleet run measures them"
    )


def _seconds(found: "Plan") -> float:
    """Return the expected seconds of all nodes of all jobs."""
    return found.nodes_of_a_job * sum(job.seconds for job in found.jobs)
