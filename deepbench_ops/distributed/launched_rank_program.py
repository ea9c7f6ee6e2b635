"""The program of each rank that torchrun or mpirun starts.

It needs only the library of the transport and numpy, so that it runs in measured environments.
"""

import argparse
import os
import sys
from typing import NoReturn

from deepbench_ops.distributed import (
    collective_kernel,
    collective_options,
    collective_table,
    launcher_variables,
    transport,
)
from deepbench_ops.distributed.launched_ranks import LaunchedRanks, follow, say
from deepbench_ops.errors import DeepbenchError, Unsupported
from deepbench_ops.problems.all_reduce import AllReduce

TRANSPORTS = {"torchrun": ("gloo", "nccl"), "Open MPI": ("mpi",), "MPICH": ("mpi",)}
"""Transports for the ranks of each launcher; the first is the default."""

USAGE_ERROR = 2


def main() -> None:
    """Run this rank; print one line for an error and exit with a status other than 0."""
    try:
        status = run(arguments())
    except (DeepbenchError, Unsupported) as wrong:
        status = reported(str(wrong))
    # With threads of torch that outlive its group, an ordinary exit sometimes aborts.
    sys.stdout.flush()
    os._exit(status)


def run(given: argparse.Namespace) -> int:
    """Join the other ranks, then lead them or follow rank 0; return the exit status."""
    asked = collective_options.request(
        given.problem,
        given.elements,
        given.repeats,
        given.timeout,
        collective_options.kind(given.collective),
        given.precision,
    )
    rank, size = launcher_variables.place()
    if size < collective_options.FEWEST_RANKS:
        raise DeepbenchError(f"{size} rank alone has no other to exchange with: start at least two")
    name = chosen(given.transport, str(launcher_variables.found()))
    for problem in asked.problems:
        collective_kernel.demand(problem, asked.precision, size, name)
    kind = transport.load(name)
    try:
        joined = kind.join_launched(asked.timeout)
    except (RuntimeError, ValueError, OSError) as failed:
        why = str(failed).splitlines()[0]
        raise DeepbenchError(f"rank {rank} of {size} could not join the others: {why}") from None
    if rank:
        return follow(joined, asked.timeout)
    return lead(LaunchedRanks(joined, asked.timeout), asked)


def lead(ranks: LaunchedRanks, asked: collective_options.CollectiveRequest) -> int:
    """Time all requested problems and print the table; return the exit status."""
    status = 0
    try:
        for line in collective_table.lines(ranks, asked):
            print(line, flush=True)
    except (DeepbenchError, Unsupported) as wrong:
        status = reported(str(wrong))
    ranks.close(status)
    return status


def chosen(name: str | None, started_by: str) -> str:
    """Return the name of the transport; raise DeepbenchError if it does not work with the
    launcher."""
    possible = TRANSPORTS[started_by]
    if name is not None and transport.check(name) not in possible:
        raise DeepbenchError(
            f"ranks started by {started_by} connect over {' or '.join(possible)}, not over {name}"
        )
    return name or possible[0]


def reported(line: str) -> int:
    """Print an error and return the exit status for wrong use."""
    say(line)
    return USAGE_ERROR


def arguments() -> argparse.Namespace:
    """Read the command line; print one line for an error."""
    parser = OneLineParser(
        prog="python -m deepbench_ops.distributed",
        description="Collective operations between the ranks that torchrun or mpirun starts.",
    )
    add = parser.add_argument
    add("--transport", metavar="T", help="gloo (default) or nccl under torchrun, mpi under mpirun")
    add(
        "--collective",
        metavar="NAME",
        default=AllReduce.family,
        help="all_reduce (default), all_gather, reduce_scatter or all_to_all",
    )
    add(
        "--precision",
        metavar="P",
        default=AllReduce.precisions[0],
        help="float32 (default), or bfloat16, which all_reduce does not have",
    )
    add(
        "--problem",
        metavar="ID",
        action="append",
        default=[],
        help="only this published size, like n100000; may be repeated",
    )
    add("--elements", metavar="N", action="append", default=[], help="a size of your own")
    add("--repeats", metavar="R", help="calls per size; else until the noise is low")
    add("--timeout", metavar="S", default="120", help="seconds that one step may take (120)")
    return parser.parse_args()


class OneLineParser(argparse.ArgumentParser):
    """Argument parser whose errors are one line, without the usage before it."""

    def error(self, message: str) -> NoReturn:
        """Print the line and exit with the status for wrong use."""
        sys.exit(reported(message))
