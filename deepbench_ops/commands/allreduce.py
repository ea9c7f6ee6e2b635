"""`deepbench allreduce`: the all-reduces between processes on this machine, as a table."""

import click

from deepbench_ops.commands.collective import print_table, shared_options
from deepbench_ops.distributed import collective_options, transports
from deepbench_ops.distributed.one_machine import rank_command

ALGORITHMS = "; ".join(
    f"{name}: {', '.join([rank_command.DEFAULT_ALGORITHM, *each.algorithms])}"
    for name, each in transports.found().items()
)


@click.command()
@shared_options
@click.option(
    "--algorithm",
    metavar="A",
    default=rank_command.DEFAULT_ALGORITHM,
    show_default=True,
    help=f"How the library sums. {ALGORITHMS}.",
)
def allreduce(
    ranks: str,
    transport: str,
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
    "deepbench collective" times the other collective operations.

    \b
      median ms       the slowest rank's time for one all-reduce, in place
      95 % +-         the interval of that median, relative
      alg. GB/s       bytes of one vector / time
      bus GB/s        alg. x 2(N - 1)/N, comparable between numbers of ranks
      checked         exact: the sums on every rank, after they were timed
    """
    print_table(
        collective_options.request(ids, elements, repeats, timeout), ranks, transport, algorithm
    )
