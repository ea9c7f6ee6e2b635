"""Server that starts the ranks of a group: it imports the library once and forks each rank.

The import of torch takes seconds of processor time; for thirty-two ranks it would take a minute on
two cores. A fork directly after the import is safe, since no thread has started and no device is in
use. The server then waits for the ends of the ranks.

It is a program of its own, or a fork of a process that has already imported the library.
"""

import os
import shutil
import signal
import sys
import threading
from functools import partial
from pathlib import Path

from deepbench_ops import process_lifetime
from deepbench_ops.distributed import initial_vectors, transport_interface
from deepbench_ops.distributed.one_machine import forked_process, rank_program
from deepbench_ops.errors import Unsupported
from deepbench_ops.process_messages import MessageSocket


def main() -> None:
    """Run the server. Arguments: transport, number of ranks, folder of the group."""
    name, size, folder = sys.argv[1:]
    start(name, int(size), Path(folder))
    os._exit(0)  # an ordinary exit of the library would take half a second


def start(name: str, size: int, folder: Path) -> None:
    """Start the ranks, and return when all have ended."""
    process_lifetime.outlive_parent()  # `_follow` ends the ranks and removes the folder
    process_lifetime.bind_forks()
    line = MessageSocket.to(folder / rank_program.SOCKET)
    try:
        transport_interface.load(name)
    except Unsupported as reason:
        line.send({"unsupported": str(reason)})
        return
    initial_vectors.Vectors(size).total()  # drawn once, for all ranks
    ranks: dict[int, int] = {}
    for rank in range(size):
        child = os.fork()
        if not child:
            line.close()
            forked_process.finish(partial(rank_program.serve, folder, rank, size, name))
        ranks[child] = rank
    threading.Thread(target=_follow, args=(line, folder), daemon=True).start()
    while ranks:
        child, status = os.wait()
        line.send({"ended": ranks.pop(child), "status": os.waitstatus_to_exitcode(status)})


def _follow(line: MessageSocket, folder: Path) -> None:
    """End this process and all ranks, also stopped ones, when the group has ended."""
    while line.receive() is not None:
        continue
    shutil.rmtree(folder, ignore_errors=True)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main()
