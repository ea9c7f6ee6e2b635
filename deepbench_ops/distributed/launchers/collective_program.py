"""The program of each rank that torchrun, srun or mpirun starts.

It needs only the library of the transport and numpy, so that it runs in measured environments.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from deepbench_ops.distributed import (
    collective_kernel,
    collective_options,
    collective_timing,
    transport_interface,
    transports,
)
from deepbench_ops.distributed.launchers import launcher_variables, rank_placement
from deepbench_ops.distributed.launchers.ranks_under_launcher import LaunchedRanks, follow, say
from deepbench_ops.errors import DeepbenchError, Unsupported
from deepbench_ops.problems.all_reduce import AllReduce
from deepbench_ops.problems.collective import Collective

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
    """Join the other ranks, then lead them or follow rank 0; return the exit status.

    Raises DeepbenchError for a rank that is alone, or cannot join the others.
    """
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
    kind = transport_interface.load(name)
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
        for line in collective_timing.lines(ranks, asked):
            print(line, flush=True)
    except (DeepbenchError, Unsupported) as wrong:
        status = reported(str(wrong))
    ranks.close(status)
    return status


def chosen(name: str | None, started_by: str) -> str:
    """Return the name of the transport; raise DeepbenchError if it does not work with the
    launcher."""
    possible = over(started_by)
    if name is not None and transport_interface.check(name) not in possible:
        raise DeepbenchError(
            f"ranks started by {started_by} connect over {' or '.join(possible)}, not over {name}"
        )
    return name or possible[0]


def over(launcher: str) -> list[str]:
    """Return the transports for the ranks of a launcher; the first is the default."""
    return [name for name, each in transports.found().items() if launcher in each.launchers]


def reported(line: str) -> int:
    """Print an error and return the exit status for wrong use."""
    say(line)
    return USAGE_ERROR


def arguments() -> argparse.Namespace:
    """Read the command line; print one line for an error."""
    parser = OneLineParser(
        prog="python -m deepbench_ops.distributed",
        description="Collective operations between the ranks that torchrun, srun or mpirun starts.",
    )
    add = parser.add_argument
    connecting = {
        name: in_words(over(launcher)) for name, launcher in rank_placement.LAUNCHERS.items()
    }
    usable = ", ".join(f"{names} under {name}" for name, names in connecting.items())
    add("--transport", metavar="T", help=usable)
    add(
        "--collective",
        metavar="NAME",
        default=AllReduce.family,
        help=in_words(list(collective_options.kinds())),
    )
    add(
        "--precision",
        metavar="P",
        default=AllReduce.precisions[0],
        help=f"{in_words(list(Collective.precisions))}, where it has that",
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


def in_words(names: Sequence[str]) -> str:
    """Return names such as "gloo (default) or nccl"."""
    first, *others = names
    return " or ".join(", ".join([f"{first} (default)", *others]).rsplit(", ", 1))


class OneLineParser(argparse.ArgumentParser):
    """Argument parser whose errors are one line, without the usage before it."""

    def error(self, message: str) -> NoReturn:
        """Print the line and exit with the status for wrong use."""
        sys.exit(reported(message))
