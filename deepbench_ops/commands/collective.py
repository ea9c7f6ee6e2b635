"""`deepbench collective`: collective operations between processes on this machine, as a table."""

from collections.abc import Callable
from typing import Any

import click

from deepbench_ops.commands import terminal_tables
from deepbench_ops.commands.options import kernel_ids, measure_alone, say_settings
from deepbench_ops.distributed import (
    collective_kernel,
    collective_options,
    collective_timing,
    transport_interface,
    transports,
)
from deepbench_ops.distributed.collective_options import FEWEST_RANKS, MOST_RANKS
from deepbench_ops.distributed.launchers import launcher_variables
from deepbench_ops.distributed.one_machine import rank_command
from deepbench_ops.distributed.one_machine.rank_group import TIMEOUT_SECONDS, RankGroup
from deepbench_ops.errors import DeepbenchError, Unsupported
from deepbench_ops.problems.collective import Collective

LONE = " or ".join(name for name, each in transports.found().items() if each.may_be_alone)

OPTIONS = (
    click.option(
        "--ranks",
        metavar="N",
        default="",
        help=f"Processes, from {FEWEST_RANKS} to {MOST_RANKS}; 1 too with {LONE}.  [required]",
    ),
    click.option(
        "--transport",
        metavar="T",
        default=transport_interface.NAMES[0],
        show_default=True,
        help=f"The library that carries the messages: {', '.join(transport_interface.NAMES)}.",
    ),
    kernel_ids("Only this; may be repeated."),
    click.option("--elements", metavar="N", multiple=True, help="A vector of a size of your own."),
    click.option(
        "--repeats",
        metavar="R",
        help="Calls to time per problem (default: until the noise is low, some 2 s).",
    ),
    click.option(
        "--timeout",
        metavar="S",
        default=f"{TIMEOUT_SECONDS:g}",
        show_default=True,
        help="Seconds that a single step may take before all ranks are ended.",
    ),
)
"""Options of `deepbench collective` and `deepbench allreduce`."""


def shared_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add OPTIONS to a command."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def _operations() -> str:
    """Return a line for each collective operation."""
    kinds = collective_options.kinds()
    width = max(map(len, kinds))
    lines = (f"  {name:{width}}  {kind.outcome}" for name, kind in kinds.items())
    return "\n".join(("\b", "NAME:", *lines))


@click.command(epilog=_operations())
@click.argument("name", metavar="NAME")
@click.option(
    "--precision",
    metavar="P",
    default=Collective.precisions[0],
    show_default=True,
    help=f"The type of the numbers: {', '.join(Collective.precisions)}.",
)
@shared_options
def collective(
    name: str,
    precision: str,
    ranks: str,
    transport: str,
    ids: tuple[str, ...],
    elements: tuple[str, ...],
    repeats: str | None,
    timeout: str,
) -> None:
    """Time a collective operation between N processes of this machine.

    \b
        deepbench collective all_gather --ranks 2
        deepbench collective all_to_all --ranks 4 --transport mpi --elements 1000000
        deepbench collective reduce_scatter --ranks 2 --precision bfloat16

    The operations are listed at the end. Without --problem and --elements the listed sizes are
    taken that two cores can run. The elements are those of the whole vector, a multiple of N where
    it is cut into parts. Every entry on every process is compared with the exact result, before and
    after the timing. docs/reference/all_reduce.md derives each figure. Between machines, run
    "python -m deepbench_ops.distributed --collective NAME" under torchrun or mpirun.

    \b
      bytes           of the whole vector, as nccl-tests counts them
      median ms       the slowest rank's time for one call
      95 % +-         the interval of that median, relative
      alg. GB/s       bytes / time
      bus GB/s        alg. x (N - 1)/N, of all_reduce x 2(N - 1)/N, comparable between
                      numbers of ranks
      checked         exact: the results on every rank, after they were timed
    """
    asked = collective_options.request(
        ids, elements, repeats, timeout, collective_options.kind(name), precision
    )
    print_table(asked, ranks, transport)


def print_table(
    asked: collective_options.CollectiveRequest,
    ranks: str,
    name: str,
    algorithm: str = rank_command.DEFAULT_ALGORITHM,
) -> None:
    """Start the ranks over the transport of that name, time the operation, print each line.

    Raises DeepbenchError under a launcher such as mpirun that has started several ranks, and for a
    problem that cannot run so. An interactive shell of Slurm is a step with one.
    """
    count = collective_options.ranks(ranks, name)
    if launcher_variables.found() is not None and launcher_variables.place()[1] > 1:
        raise DeepbenchError(
            f"this was started by {launcher_variables.found()}: start"
            " python -m deepbench_ops.distributed with it"
        )
    try:
        for problem in asked.problems:
            collective_kernel.demand(problem, asked.precision, count, name)
        measure_alone()
        say_settings()
        with RankGroup(name, count, asked.timeout, algorithm) as group:
            for line in collective_timing.lines(group, asked):
                click.echo(terminal_tables.prose(line, "#   ") if line.startswith("#") else line)
    except Unsupported as reason:
        raise DeepbenchError(str(reason)) from None
