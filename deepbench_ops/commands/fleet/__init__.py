"""`deepbench fleet`: a plan of measurements on many machines, run by ReFrame."""

import click

from deepbench_ops.commands.fleet.checks import checks
from deepbench_ops.commands.fleet.nodes import nodes
from deepbench_ops.commands.fleet.plan import make
from deepbench_ops.commands.fleet.run import start
from deepbench_ops.commands.fleet.status import status


@click.group()
def fleet() -> None:
    """Measure releases on many machines, by ReFrame and a scheduler.

    \b
        deepbench fleet plan --system site --config site.py
        deepbench fleet run
        deepbench fleet status

    A plan is a file. A run measures the jobs of the plan that are not measured yet, so after any
    interruption the same command goes on. Without --system everything runs on this machine, one
    job after the other.
    """


for each in (make, start, status, nodes, checks):
    fleet.add_command(each)
