"""`deepbench unsteady`: the points worth measuring again, as the pattern that asv wants."""

from pathlib import Path

import click

from deepbench_ops.commands.options import results_folder


@click.command()
@click.argument("release", metavar="RELEASE")
@click.option("--machine", metavar="NAME", help="Whose results (default: this machine's).")
@click.option(
    "--beyond",
    "limit",
    metavar="SHARE",
    type=float,
    default=0.2,
    show_default=True,
    help="How far the processes of a point may lie apart: 0.2 is 20 %.",
)
@results_folder
def unsteady(release: str, machine: str | None, limit: float, results: Path) -> None:
    """Print the pattern that picks the points of RELEASE whose processes disagree.

    Every point is measured in two processes or more. Where their calibrated medians lie far
    apart, the machine was disturbed in a way that the yardstick did not see:

    \b
        asv run --bench "$(deepbench unsteady numpy-2.4.6)" numpy-2.4.6

    How many points that are, and the worst of them, is said on stderr.
    """
    from deepbench_ops.machine import entry
    from deepbench_ops.results import unsteady as points

    folder = results / entry.check_name(machine or entry.default_name())
    found = points.spread(points.of_release(folder, release))
    chosen = points.beyond(found, limit)
    worst = ""
    if chosen:
        name, params = chosen[0]
        worst = f"; the worst, {name} {' '.join(params)}, by {found[chosen[0]]:.0%}"
    click.echo(
        f"{len(chosen)} of {len(found)} points lie more than {limit:.0%} apart{worst}", err=True
    )
    click.echo(points.pattern(chosen))
