"""`deepbench recalibrate`: stored times by the nominal readings of today's profile."""

from pathlib import Path

import click

from deepbench_ops.commands.options import machine_with_results, results_folder


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
    yardstick, and those of collectives stay as they are.
    """
    from deepbench_ops.analysis import recalibration

    whose = machine_with_results(results, machine)
    found = recalibration.recalibrate(results, whose)
    click.echo(
        f"{whose}: {found.points} points of single runs and {found.rounds} rounds of histories are"
        " calculated again"
        if any(found)
        else f"{whose}: all times rest on the nominal readings of its profile"
    )
