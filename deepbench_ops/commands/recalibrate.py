"""`deepbench recalibrate`: stored times by the nominal readings of today's profile."""

from pathlib import Path

import click

from deepbench_ops.commands.options import machine_with_results, results_folder
from deepbench_ops.errors import DeepbenchError


@click.command()
@click.option("--machine", metavar="NAME", help="Whose results (default: this machine's).")
@results_folder
def recalibrate(machine: str | None, results: Path) -> None:
    """Calculate stored times again by the nominal readings in the machine's profile.

    \b
        deepbench machine --renew-yardsticks
        deepbench recalibrate
        asv publish

    A stored time is raw seconds / reading of the yardstick x its nominal reading. Where a nominal
    reading was wrong and has been renewed, or the machine's state had none when a time was
    measured, the times that rest on it follow: of single runs, and of the rounds of histories.
    Nothing is measured. Times whose nominal reading has not changed, those without a reading of the
    yardstick, those of unrecorded state on a machine with several, and those of collectives stay
    as they are. A file that is damaged stays and is named, and the exit status is 2.
    """
    from deepbench_ops.analysis import recalibration

    whose = machine_with_results(results, machine)
    found = recalibration.recalibrate(results, whose)
    *others, last = found.faults or ("",)
    for line in others:
        click.echo(f"deepbench: error: {line}", err=True)
    click.echo(
        f"{whose}: {found.points} points of single runs and {found.rounds} rounds of histories are"
        " calculated again"
        if found.points or found.rounds
        else f"{whose}: no time has changed"
        if found.faults
        else f"{whose}: all times rest on the nominal readings of its profile"
    )
    if last:
        raise DeepbenchError(last)
