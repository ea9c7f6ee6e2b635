"""Ranks on several nodes, started by a launcher, with the interface of `RankGroup`.

Rank 0 runs on this node. It connects to a socket here, leads the other ranks over the transport
(`ranks_under_launcher`), and sends back their answers. When this process dies rank 0 notices the
closed connection and ends all ranks.
"""

import select
import shutil
import socket
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from deepbench_ops.distributed.launchers import launcher_commands, launcher_processes
from deepbench_ops.distributed.launchers.rank_placement import RankPlacement
from deepbench_ops.distributed.one_machine.rank_group import TICK_SECONDS, TIMEOUT_SECONDS
from deepbench_ops.distributed.one_machine.rank_program import SOCKET
from deepbench_ops.errors import DeepbenchError, Unsupported
from deepbench_ops.process_messages import Message, MessageSocket

PROGRAM = "deepbench_ops.distributed.launchers.launched_rank_program"
OUTPUT = "launcher.txt"
"""File with all that launcher and ranks print."""

ROLL_CALL_SECONDS = 20.0
"""Seconds beyond the time limit of an order until ranks that hang have been named."""


class LaunchedGroup:
    """Ranks of a placement that exchange vectors over one transport. Close it in the end.

    timeout: seconds that each order, and the start, may take. here: number of ranks on this node.
    versions: versions of rank 0's libraries, and the placement.
    """

    def __init__(
        self, name: str, placement: RankPlacement, timeout: float = TIMEOUT_SECONDS
    ) -> None:
        launcher_commands.demand(name, placement)
        self.name, self.size, self.here = name, placement.ranks, placement.ranks_per_node
        self._placement, self._timeout = placement, timeout
        self._folder = Path(tempfile.mkdtemp(prefix="deepbench-"))
        self._processes: list[subprocess.Popen[bytes]] = []
        self._line: MessageSocket | None = None
        try:
            self._line = self._meet()
            answer = self._answer("starting")
            placement.demand_nodes(answer["nodes"])
            self.versions: dict[str, str] = {**answer["versions"], **placement.facts()}
        except BaseException:
            self.close(killing=True)
            raise

    def ask(self, do: str, **details: object) -> list[Message]:
        """Have every rank carry out an order, and return their answers by rank.

        A failure closes the group. Raises DeepbenchError with the reason, Unsupported if the ranks
        cannot carry out the order.
        """
        assert self._line is not None
        with suppress(OSError):  # rank 0 has ended, which shows when it is heard
            self._line.send({"do": do, **details})
        answers: list[Message] = self._answer(do)["answers"]
        return answers

    def close(self, killing: bool = False) -> None:
        """End all ranks, by an order or with `killing` by signals to their launcher."""
        if self._line is not None and not killing:
            with suppress(OSError):
                self._line.send({"do": "end"})
        launcher_processes.end(self._processes, waiting=not killing)
        if self._line is not None:
            self._line.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _meet(self) -> MessageSocket:
        """Start the ranks, and return the connection to rank 0."""
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(self._folder / SOCKET))
            listener.listen()
            listener.settimeout(TICK_SECONDS)
            self._start()
            end = time.monotonic() + self._timeout
            while time.monotonic() < end:
                with suppress(TimeoutError):
                    return MessageSocket(listener.accept()[0])
                self._demand_running("starting")
        self._give_up(f"the ranks did not start within {self._timeout:g} s")

    def _start(self) -> None:
        environ = launcher_commands.environment(self._placement)
        program = [PROGRAM, self.name, str(self._folder), str(self._timeout)]
        commands = launcher_commands.commands(self._placement, program, environ)
        with (self._folder / OUTPUT).open("ab") as output:
            launcher_processes.start(commands, environ, self._processes, output, output)

    def _answer(self, stage: str) -> Message:
        """Return rank 0's next message. Raises its errors."""
        assert self._line is not None
        end = time.monotonic() + self._timeout + ROLL_CALL_SECONDS
        while time.monotonic() < end:
            if not select.select([self._line], [], [], TICK_SECONDS)[0]:
                continue
            messages = self._line.receive()
            if messages is None:
                time.sleep(1.0)  # until the launcher has passed on the ranks' last lines
                self._give_up(f"while {stage}, {self._said() or 'rank 0 ended'}")
            for message in messages:
                if "unsupported" in message:
                    self._give_up(message["unsupported"], Unsupported)
                if "error" in message:
                    self._give_up(message["error"])
                return message
        self._give_up(f"{self.size} ranks did not answer within {self._timeout:g} s, while {stage}")

    def _demand_running(self, stage: str) -> None:
        """Raise DeepbenchError where a launcher has ended, with the line that it printed."""
        if any(each.poll() for each in self._processes):
            launcher = self._placement.launcher
            self._give_up(f"{launcher} ended while {stage}: {self._said() or 'it printed nothing'}")

    def _give_up(self, why: str, kind: type[Exception] = DeepbenchError) -> NoReturn:
        self.close(killing=True)
        raise kind(why)

    def _said(self) -> str:
        """Return the line with the reason from the output of launcher and ranks."""
        text = (self._folder / OUTPUT).read_text("utf-8", errors="replace")
        lines = [line.strip() for line in text.splitlines() if line.strip(" -*=")]
        ours = [line for line in lines if "deepbench: error: " in line]
        return (ours or lines[-1:] or [""])[0].rpartition("deepbench: error: ")[2]
