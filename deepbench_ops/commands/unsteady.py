"""`deepbench unsteady`: the unsteady points, and the pattern for asv that measures them again."""

import math
from pathlib import Path
from typing import TYPE_CHECKING

import click

from deepbench_ops.commands.options import machine_with_results, results_folder
from deepbench_ops.errors import DeepbenchError

if TYPE_CHECKING:
    from deepbench_ops.analysis.points import Point


@click.command()
@click.argument("release", metavar="RELEASE")
@click.option("--machine", metavar="NAME", help="Whose results (default: this machine's).")
@click.option(
    "--beyond",
    "limit",
    metavar="SHARE",
    type=float,
    help="Also pick points whose processes, or interval in a history, spread more: 0.2 is 20 %.",
)
@results_folder
def unsteady(release: str, machine: str | None, limit: float | None, results: Path) -> None:
    """List the unsteady points of RELEASE, and the command to measure them again.

    \b
        deepbench unsteady numpy-2.4.6
        asv run --bench "$(deepbench unsteady numpy-2.4.6)" numpy-2.4.6

    A point is unsteady for one of three reasons: half of its slices or more were taken while the
    yardstick was far from its nominal value and the others do not confirm its time; no majority of
    its processes agrees; or its time beats the machine's peak or bandwidth. It stays in the
    results, and is left out of rankings, verdicts and submissions. docs/reference/limits.md has
    the limits.

    The pattern goes to standard output; the points with their reasons, their number and the command
    go to standard error. For points of a history use the printed command: without its
    DEEPBENCH_ALONE=1 nothing is measured.
    """
    from deepbench_ops.analysis import unsteady_list as points
    from deepbench_ops.asv_adapter import machine_entry
    from deepbench_ops.machine import steadiness
    from deepbench_ops.releases import table_location

    if limit is not None and not (math.isfinite(limit) and limit > 0):
        raise DeepbenchError(f"a spread of {limit:g} is no share above 0: give 0.2 for 20 %")
    here = machine_entry.default_name()
    whose = machine_with_results(results, machine)
    releases = {each.hash: each for each in table_location.load(results)}
    found = points.of_release(results, whose, release, releases)
    reasons = {
        point: reason for point in found if (reason := point.unsteady or _wide(point, limit))
    }
    click.echo(points.pattern(reasons))
    for point, reason in reasons.items():
        named = f"{point.family} {point.set} {point.operation} {point.name}, {point.precision}"
        click.echo(f"{named}: {reason}", err=True)
    kinds = points.counted(list(reasons))
    click.echo(
        f"{len(reasons)} of {len(found)} points of {release} are unsteady"
        f"{f' ({kinds})' if kinds else ''}",
        err=True,
    )
    options = f" --beyond {limit:g}" if limit is not None else ""
    where = "measure them again" if machine in (None, here) else f"on {machine}, measure them again"
    for command in points.commands(reasons, options):
        click.echo(f"{where}: {command}", err=True)

    if steadiness.ROOF in kinds:
        click.echo("or the peaks are too low: deepbench machine measures them again", err=True)


def _wide(point: "Point", limit: float | None) -> str:
    """Return why a point spreads more than a limit, a share; "" where it does not. In a history its
    interval of 99 % counts, since a few rounds may be ruined."""
    if limit is None or len(point.rounds) < 2:
        return ""
    if point.ensemble is not None:
        if point.interval is None:
            return f"it has no interval of 99 %: {point.without_interval}"
        low, high = point.interval
        wide = high / low - 1
        return f"its interval of 99 % is {wide:.0%} wide" if wide > limit else ""
    apart = max(point.rounds) / min(point.rounds) - 1
    return f"its processes lie {apart:.0%} apart" if apart > limit else ""
