"""The program of each rank of a `LaunchedGroup`; arguments: transport, folder, timeout in seconds.

Rank 0 connects to the group's socket in the folder, which is on its node alone.
"""

import os
import platform
import sys
from pathlib import Path

from deepbench_ops.distributed import transport_interface
from deepbench_ops.distributed.launchers import launcher_variables
from deepbench_ops.distributed.launchers.ranks_under_launcher import LaunchedRanks, follow, say
from deepbench_ops.distributed.one_machine.rank_program import SOCKET
from deepbench_ops.distributed.transport_interface import Transport
from deepbench_ops.errors import DeepbenchError, Unsupported
from deepbench_ops.process_messages import Message, MessageSocket


def main() -> None:
    """Run this rank; print one line for an error and exit with a status other than 0."""
    name, folder, timeout = sys.argv[1:]
    try:
        status = run(name, Path(folder), float(timeout))
    except (DeepbenchError, Unsupported) as wrong:
        say(str(wrong))
        status = 2
    sys.stdout.flush()
    os._exit(status)  # threads of torch that outlive its group sometimes abort an ordinary exit


def run(name: str, folder: Path, timeout: float) -> int:
    """Join the other ranks, then lead them as the group asks, or follow; return the exit status.

    Raises DeepbenchError where the ranks cannot join.
    """
    rank, size = launcher_variables.place()
    kind = transport_interface.load(name)
    try:
        joined = kind.join_launched(timeout)
        nodes = joined.gather(os.environ.get("SLURMD_NODENAME") or platform.node())
    except (RuntimeError, ValueError, OSError) as failed:
        why = str(failed).splitlines()[0]
        raise DeepbenchError(f"rank {rank} of {size} could not join the others: {why}") from None
    if rank:
        return follow(joined, timeout)
    return lead(joined, nodes, MessageSocket.to(folder / SOCKET), timeout)


def lead(transport: Transport, nodes: list[str], line: MessageSocket, timeout: float) -> int:
    """Carry out the orders that come over a socket, until the last one or the end of the group.

    nodes: the node of each rank.
    """
    ranks = LaunchedRanks(transport, timeout)
    line.send({"versions": ranks.versions, "nodes": nodes})
    while (orders := line.receive()) is not None:
        for order in orders:
            if order["do"] == "end":
                ranks.close(0)
                return 0
            line.send(answer(ranks, order))
    ranks.close(1)
    return 1


def answer(ranks: LaunchedRanks, order: Message) -> Message:
    """Return the answers of all ranks to an order, or the reason why there are none."""
    try:
        return {"answers": ranks.ask(**order)}
    except Unsupported as reason:
        return {"unsupported": str(reason)}
    except DeepbenchError as error:
        return {"error": str(error)}


if __name__ == "__main__":
    main()
