"""Server that starts the ranks of a group: imports the library once, then forks one process each.

Importing torch takes seconds of processor time, thirty-two times that a minute on two cores. A
fork right after the import is safe, as nothing has started a thread or touched a device by then;
the ranks are processes like any others from there on. This one stays to see them end.

It is a program of its own, or a fork of a process that has imported the library already.
"""

import os
import shutil
import signal
import sys
import threading
from functools import partial
from pathlib import Path

from deepbench_ops import lifetime
from deepbench_ops.distributed import forked_process, initial_vectors, local_rank_program, transport
from deepbench_ops.errors import Unsupported
from deepbench_ops.messages import MessageSocket


def main() -> None:
    """Arguments: transport, number of ranks, the group's folder."""
    name, size, folder = sys.argv[1:]
    start(name, int(size), Path(folder))
    os._exit(0)  # taking the library apart would take half a second


def start(name: str, size: int, folder: Path) -> None:
    """Start the ranks, and return when all have ended."""
    lifetime.outlive_parent()  # `_follow` sees to the ranks and the folder
    lifetime.bind_forks()
    line = MessageSocket.to(folder / local_rank_program.SOCKET)
    try:
        transport.load(name)
    except Unsupported as reason:
        line.send({"unsupported": str(reason)})
        return
    initial_vectors.Vectors(size).total()  # once, or each rank draws what all put in (float32)
    ranks: dict[int, int] = {}
    for rank in range(size):
        child = os.fork()
        if not child:
            line.close()
            forked_process.finish(partial(local_rank_program.serve, folder, rank, size, name))
        ranks[child] = rank
    threading.Thread(target=_follow, args=(line, folder), daemon=True).start()
    while ranks:
        child, status = os.wait()
        line.send({"ended": ranks.pop(child), "status": os.waitstatus_to_exitcode(status)})


def _follow(line: MessageSocket, folder: Path) -> None:
    """End this process with all ranks, stopped ones included, once the group has ended."""
    while line.receive() is not None:
        continue
    shutil.rmtree(folder, ignore_errors=True)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main()
