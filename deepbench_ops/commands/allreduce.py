"""`deepbench allreduce`: the all-reduces between processes on this machine, as a table."""

import click

from deepbench_ops.commands import terminal_tables
from deepbench_ops.commands.options import kernel_ids, measure_alone, say_settings
from deepbench_ops.distributed import launcher_variables, rank_command, report, request, transport
from deepbench_ops.distributed.rank_group import TIMEOUT_SECONDS, RankGroup
from deepbench_ops.errors import DeepbenchError, Unsupported

ALGORITHMS = "; ".join(
    f"{name}: {', '.join([rank_command.DEFAULT_ALGORITHM, *choices])}"
    for name, choices in rank_command.ALGORITHMS.items()
)


@click.command()
@click.option(
    "--ranks",
    metavar="N",
    default="",
    help=f"Processes, from {request.FEWEST_RANKS} to {request.MOST_RANKS}.",
)
@click.option(
    "--transport",
    "name",
    metavar="T",
    default=transport.NAMES[0],
    show_default=True,
    help=f"The library that carries the messages: {', '.join(transport.NAMES)}.",
)
@click.option(
    "--algorithm",
    metavar="A",
    default=rank_command.DEFAULT_ALGORITHM,
    show_default=True,
    help=f"How the library sums. {ALGORITHMS}.",
)
@kernel_ids("Only this; may be repeated.")
@click.option("--elements", metavar="N", multiple=True, help="A vector of a size of your own.")
@click.option(
    "--repeats",
    metavar="R",
    help="All-reduces to time per problem (default: until the noise is low, some 2 s).",
)
@click.option(
    "--timeout",
    metavar="S",
    default=f"{TIMEOUT_SECONDS:g}",
    show_default=True,
    help="Seconds that a single step may take before all ranks are ended.",
)
def allreduce(
    ranks: str,
    name: str,
    algorithm: str,
    ids: tuple[str, ...],
    elements: tuple[str, ...],
    repeats: str | None,
    timeout: str,
) -> None:
    """Time the sum of a vector over N processes of this machine.

    \b
        deepbench allreduce --ranks 4
        deepbench allreduce --ranks 8 --problem n4194304 --repeats 1000

    Every process holds a vector of float32 and ends with the sum of all. Without --problem and
    --elements the seven published sizes are taken. Every entry on every process is compared with
    the exact sum, before and after the timing. docs/reference/all_reduce.md derives each figure.
    Between machines, run "python -m deepbench_ops.distributed" under torchrun or mpirun.

    \b
      median ms       the slowest rank's time for one all-reduce, in place
      95 % +-         the interval of that median, relative
      alg. GB/s       bytes of one vector / time
      bus GB/s        alg. x 2(N - 1)/N, comparable between numbers of ranks
      checked         exact: the sums on every rank, after they were timed
    """
    asked = request.request(ids, elements, repeats, timeout)
    count = request.ranks(ranks)
    if launcher_variables.found() is not None:
        raise DeepbenchError(
            f"this was started by {launcher_variables.found()}: start"
            " python -m deepbench_ops.distributed with it"
        )
    measure_alone()
    say_settings()
    try:
        with RankGroup(name, count, asked.timeout, algorithm) as group:
            for line in report.lines(group, asked):
                click.echo(terminal_tables.prose(line, "#   ") if line.startswith("#") else line)
    except Unsupported as reason:
        raise DeepbenchError(str(reason)) from None
