"""The program of a rank that a group has started on its own machine.

It connects to the group's socket, sends its rank, and carries out orders until the last one. A
second thread listens: it reports the state of the rank, also while the rank waits inside an
all-reduce, and ends the process when the group has ended. Both threads sleep while they wait, so
idle ranks do not disturb measurements.
"""

import os
import shutil
import sys
import threading
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from deepbench_ops import process_lifetime
from deepbench_ops.distributed import transport_interface
from deepbench_ops.distributed.launchers import launcher_variables
from deepbench_ops.distributed.rank_member import RankMember
from deepbench_ops.errors import DeepbenchError, Unsupported
from deepbench_ops.process_messages import Message, MessageSocket

SOCKET = "group"
"""Name of the group's socket in its folder, which also has the standard error of each rank."""

MEETING_POINT = "store"
"""Name of the file in this folder through which ranks find each other."""

JOINING = "joining the others"


def error_file(folder: Path, rank: int) -> Path:
    """Return the file for the standard error of a rank."""
    return folder / f"rank{rank}.err"


def serve(folder: Path, rank: int, size: int, name: str) -> None:
    """Run a rank over the transport `name` until the last order or the end of the group."""
    with error_file(folder, rank).open("wb") as words:
        os.dup2(words.fileno(), 2)
    LocalRank(folder, rank, size, name).serve()


class LocalRank:
    """A rank of a group: its connection to the group, and its `RankMember` after all have
    joined."""

    def __init__(self, folder: Path, rank: int, size: int, name: str) -> None:
        self._folder = folder
        self._line = MessageSocket.to(folder / SOCKET)
        self._rank = rank
        self._size = size
        self._name = name
        self._transport: transport_interface.Transport | None = None
        self._member: RankMember | None = None
        self._orders: SimpleQueue[Message] = SimpleQueue()

    def serve(self) -> None:
        """Send the number of this rank, then answer every order."""
        threading.Thread(target=self._listen, daemon=True).start()
        self._line.send({"rank": self._rank, "pid": os.getpid()})
        while (order := self._orders.get())["do"] != "end":
            self._line.send(self._answer(order))
        if self._transport is not None:
            self._transport.close()

    def _listen(self) -> None:
        while (messages := self._line.receive()) is not None:
            for message in messages:
                if message["do"] == "report":
                    self._line.send({"doing": self._doing()})
                else:
                    self._orders.put(message)
        shutil.rmtree(self._folder, ignore_errors=True)  # the group can no longer do it
        os._exit(1)

    def _doing(self) -> str:
        return self._member.doing if self._member else JOINING

    def _answer(self, order: Message) -> Message:
        try:
            return {"answer": self._obey(**order)}
        except Unsupported as reason:
            return {"unsupported": str(reason)}
        except DeepbenchError as error:
            return {"error": str(error)}
        except Exception as error:
            said = " ".join(str(error).split()) or "no reason given"
            return {"error": f"rank {self._rank} of {self._size}: {type(error).__name__}: {said}"}

    def _obey(self, do: str, **details: Any) -> dict[str, object]:
        if do == "join":
            return self._join(**details)
        assert self._member is not None
        return self._member.carry_out(do, **details)

    def _join(self, timeout: float) -> dict[str, object]:
        kind = transport_interface.load(self._name)
        meeting = self._folder / MEETING_POINT
        self._transport = kind.join(self._rank, self._size, meeting, timeout)
        self._member = RankMember(self._transport)
        return dict(self._transport.versions()) if self._rank == 0 else {}


def main() -> None:
    """Run a rank that mpirun has started. Arguments: transport, folder of the group.

    The rank comes from the launcher's variables. MPI connects only at an order, so that a rank that
    fails before has a number in messages.
    """
    process_lifetime.end_with(os.getppid())
    name, folder = sys.argv[1:]
    rank, size = launcher_variables.place()
    serve(Path(folder), rank, size, name)


if __name__ == "__main__":
    main()
