"""`deepbench fleet run`: the jobs of a plan that are not measured yet."""

from pathlib import Path

import click

from deepbench_ops.commands.fleet.plan_file import path_of, plan_argument, read, site_options
from deepbench_ops.commands.options import results_folder_to_write
from deepbench_ops.commands.output_format import counted
from deepbench_ops.errors import Interrupted


@click.command("run")
@plan_argument
@site_options("the plan's", "the plan's")
@click.argument("more", metavar="[-- OPTIONS]", nargs=-1, type=click.UNPROCESSED)
@results_folder_to_write
def start(
    path: Path | None, system: str, config: str, more: tuple[str, ...], results: Path
) -> None:
    """Measure the jobs of PLAN that are left, and merge their times into results/.

    \b
        deepbench fleet run
        deepbench fleet run --system site --config site.py
        deepbench fleet run fleet/plan.json -- -J account=perf

    ReFrame gives each job to the scheduler of its partition, on a node of its own; where neither
    PLAN nor --system names a system, one after the other runs here. Jobs that a lost node, a time
    limit or a failure leaves over are given to it once more. After Ctrl-C all jobs are cancelled,
    and measured kernels are kept: the same command goes on from there. OPTIONS are given to
    ReFrame.

    The times of a plan for every node are not merged. Ends with status 1 where jobs are left, or
    nodes of such a plan, and where times are refused.
    """
    from deepbench_ops.fleet import reason_lines, scheduled_jobs
    from deepbench_ops.fleet.fleet_run import FleetRun

    if path is not None and str(path).startswith("-"):
        path, more = None, (str(path), *more)  # click takes the first option after -- for PLAN
    path = path_of(path)
    found = read(path)
    jobs = scheduled_jobs.of(path, found, system, config)
    jobs.site.demand_schedulers(found.machine_types)
    run = FleetRun(jobs, results, more, lambda line: click.echo(line, err=True))
    try:
        complete = run.run()
    except KeyboardInterrupt:
        every = len(run.folders())
        raise Interrupted(
            f"jobs measured: {every - len(run.left())} of {every};"
            " the same command goes on from there"
        ) from None
    left = [(folder, folder.outcome()) for folder in run.left()]
    reasons = [(each.name, end.reason if end else each.state()) for each, end in left]
    reasons += [
        (each.name, f"measured, but its times are not in {results}: {each.refusal}")
        for each in run.refused()
    ]
    for line in reason_lines.of(reasons):
        click.echo(line)
    if found.every_node and not complete:
        click.echo("not every node has measured all jobs; the same command tries the others again")
    if not complete:
        raise click.exceptions.Exit(1)
    click.echo(f"{counted(len(run.folders()), 'job')} of {path} measured")
