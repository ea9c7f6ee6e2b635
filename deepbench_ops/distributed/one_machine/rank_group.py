"""A group of ranks on this machine: it starts them, gives them orders, supervises and ends them.

Every order goes to all ranks, and all must answer in time. A rank that ends, answers with an error
or does not answer ends the whole group, with one error about it. No rank outlives `close`. If this
process dies, the ranks notice the closed connections, remove the folder and end.
"""

import os
import selectors
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NoReturn

from deepbench_ops.distributed import transport_interface
from deepbench_ops.distributed.one_machine import (
    fork_server,
    forked_process,
    rank_command,
    rank_program,
)
from deepbench_ops.distributed.rank_member import STAGES, WAITING_STATES
from deepbench_ops.errors import DeepbenchError, Unsupported
from deepbench_ops.process_messages import Message, MessageSocket

TIMEOUT_SECONDS = 120.0
"""Default for the longest time of an order, and of the start."""

TICK_SECONDS = 0.2
"""Seconds between two checks of the process that starts the ranks."""

SETTLING_SECONDS = 3.0
"""Seconds to wait for further failures after the first, to distinguish cause from consequences."""

REPORTING_SECONDS = 2.0
"""Longest time until a rank reports its state: its listening thread has nothing else to do."""

ENDING_SECONDS = 5.0
"""Longest time in which ranks may end their connections in order."""

LAUNCHER_WORDS = "launcher.err"

Process = subprocess.Popen[bytes] | forked_process.Forked


class RankGroup:
    """`size` processes that exchange vectors over one transport. Use it as a context, or close it.

    timeout: seconds that each order, and the start, may take.
    pids: process numbers of the ranks.
    versions: versions of rank 0's libraries, and the algorithm if one was asked for.
    """

    def __init__(
        self,
        name: str,
        size: int,
        timeout: float = TIMEOUT_SECONDS,
        algorithm: str = rank_command.DEFAULT_ALGORITHM,
    ) -> None:
        transport_interface.demand(name)
        environ = rank_command.environment(name, algorithm)
        self.name = name
        self.size = self.here = size
        self.timeout = timeout
        self.pids: dict[int, int] = {}
        self._lines: dict[int, MessageSocket] = {}
        self._ended: dict[int, int] = {}
        self._process: Process | None = None
        self._selector = selectors.DefaultSelector()
        self._folder = Path(tempfile.mkdtemp(prefix="deepbench-"))
        try:
            self._listener = self._listen()
            self._process = self._launch(environ)
            self.versions = self._meet()
            if algorithm != rank_command.DEFAULT_ALGORITHM:
                self.versions["algorithm"] = algorithm
        except BaseException:
            self.close(killing=True)
            raise

    def __enter__(self) -> "RankGroup":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close(killing=kind is not None)

    def ask(self, do: str, **details: object) -> list[Message]:
        """Have every rank carry out an order, and return their answers by rank.

        A failure closes the group. Raises DeepbenchError with the rank and the reason, Unsupported
        if this machine cannot carry out the order.
        """
        return self._order(range(self.size), {"do": do, **details})

    def close(self, killing: bool = False) -> None:
        """End all ranks, by an order or with `killing` by signals, and remove their folder."""
        if not killing:
            for line in self._lines.values():
                with suppress(OSError):
                    line.send({"do": "end"})
        if self._process is not None:
            self._end(self._process, 0.0 if killing else ENDING_SECONDS)
            self._process = None
        for key in list((self._selector.get_map() or {}).values()):
            key.fileobj.close()  # type: ignore[union-attr]
        self._selector.close()
        self._lines.clear()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _listen(self) -> socket.socket:
        listener = socket.socket(socket.AF_UNIX)
        self._selector.register(listener, selectors.EVENT_READ)
        try:
            listener.bind(str(self._folder / rank_program.SOCKET))
        except OSError as refused:
            raise DeepbenchError(
                f"{self._folder}: {refused}; set TMPDIR to a short path on a local disk"
            ) from None
        listener.listen(self.size + 1)
        return listener

    def _launch(self, environ: dict[str, str]) -> Process:
        command = rank_command.command(self.name, self.size, self._folder)
        with (self._folder / LAUNCHER_WORDS).open("wb") as words:
            if forked_process.possible(self.name):
                start = partial(fork_server.start, self.name, self.size, self._folder)
                return forked_process.Forked(start, environ, words.fileno())
            return subprocess.Popen(
                command,
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=words,
                stderr=words,
                start_new_session=True,
            )

    def _meet(self) -> dict[str, str]:
        """Wait until all ranks have started and connected; return the versions of rank 0."""
        end = time.monotonic() + self.timeout
        while len(self._lines) < self.size:
            if trouble := self._hear(TICK_SECONDS):
                self._fail("starting", trouble)
            if self._process is None or self._process.poll() is not None:
                self._give_up(f"the ranks could not be started: {self._launcher_words()}")
            if time.monotonic() > end:
                absent = sorted(set(range(self.size)) - self._lines.keys())
                self._give_up(f"{self._names(absent)} did not start within {self.timeout:g} s")
        return self._order(range(self.size), {"do": "join", "timeout": self.timeout})[0]

    def _order(self, ranks: Iterable[int], order: Message) -> list[Message]:
        stage = STAGES[order["do"]]
        waiting = set(ranks)
        answers: dict[int, Message] = {}
        for rank in waiting:
            with suppress(OSError):  # the rank has ended, which its closed connection shows later
                self._lines[rank].send(order)
        end = time.monotonic() + self.timeout
        while waiting - answers.keys():
            heard = self._hear(TICK_SECONDS)
            if any(message is None or "answer" not in message for _, message in heard):
                self._fail(stage, heard)
            answers |= {rank: message["answer"] for rank, message in heard if message}
            if time.monotonic() > end:
                self._silence(stage, waiting - answers.keys())
        return [answers[rank] for rank in sorted(answers)]

    def _hear(self, seconds: float) -> list[tuple[int, Message | None]]:
        """Return the messages of ranks until now, None for a rank whose connection is closed.

        Waits at most `seconds` for the first message. Also handles new connections and messages of
        the fork server about ended ranks.
        """
        heard: list[tuple[int, Message | None]] = []
        events = self._selector.select(seconds)
        for key, _ in events:
            if key.fileobj is self._listener:
                connection, _ = self._listener.accept()
                self._selector.register(MessageSocket(connection), selectors.EVENT_READ)
            else:
                heard.extend(self._read(key.fileobj))  # type: ignore[arg-type]
        return heard

    def _read(self, line: MessageSocket) -> Iterator[tuple[int, Message | None]]:
        messages = line.receive()
        if messages is None:
            self._selector.unregister(line)
            line.close()
            yield from ((rank, None) for rank, its in self._lines.items() if its is line)
        for message in messages or ():
            if "pid" in message:
                self._lines[message["rank"]] = line
                self.pids[message["rank"]] = message["pid"]
            elif "ended" in message:
                self._ended[message["ended"]] = message["status"]
                if message["ended"] not in self._lines:
                    yield message["ended"], None
            elif "unsupported" in message:
                self._give_up(message["unsupported"], Unsupported)
            else:
                yield next(rank for rank, its in self._lines.items() if its is line), message

    def _fail(self, stage: str, signs: list[tuple[int, Message | None]]) -> NoReturn:
        """Raise the error that explains these failures and those that follow soon."""
        end = time.monotonic() + SETTLING_SECONDS
        while (left := end - time.monotonic()) > 0 and not self._is_explained(signs):
            signs += self._hear(left)
        lost = [rank for rank, message in signs if message is None]
        if lost:
            # Ranks that wait for a lost one may end as well: the first is the cause.
            self._give_up(f"{self._names(lost[:1])} {self._how(lost[0])} while {stage}")
        errors = {r: m["error"] for r, m in signs if m is not None and "error" in m}
        self._give_up(errors[min(errors)])

    def _is_explained(self, signs: list[tuple[int, Message | None]]) -> bool:
        """Return whether all ranks have reported, and it is known how the lost ones ended."""
        lost = {rank for rank, message in signs if message is None}
        return len(dict(signs)) == self.size and lost <= self._ended.keys()

    def _silence(self, stage: str, waiting: set[int]) -> NoReturn:
        """Raise the error about ranks that did not answer in time, for which the others wait."""
        doing: dict[int, str] = {}
        for rank in waiting:
            with suppress(OSError):
                self._lines[rank].send({"do": "report"})
        end = time.monotonic() + REPORTING_SECONDS
        while (left := end - time.monotonic()) > 0 and waiting - doing.keys():
            doing |= {r: m["doing"] for r, m in self._hear(left) if m and "doing" in m}
        mute = sorted(waiting - doing.keys())
        busy = sorted(rank for rank, what in doing.items() if what not in WAITING_STATES)
        for ranks, what in ((mute, "stopped or hung, says nothing"), (busy, f"still {stage}")):
            if ranks:
                self._give_up(
                    f"{self._names(ranks)} did not answer within {self.timeout:g} s: {what}"
                )
        self._give_up(
            f"{self._names(sorted(waiting))} did not answer within {self.timeout:g} s: all still"
            f" {stage}, waiting for each other"
        )

    def _give_up(self, why: str, kind: type[Exception] = DeepbenchError) -> NoReturn:
        self.close(killing=True)
        raise kind(why)

    def _names(self, ranks: list[int]) -> str:
        listed = ", ".join(map(str, ranks))
        return f"rank{'s' if len(ranks) > 1 else ''} {listed} of {self.size}"

    def _how(self, rank: int) -> str:
        """Return how a rank ended, if known, with the last line of its standard error."""
        status = self._ended.get(rank)
        how = "ended"
        if status is not None:
            how = f"ended with status {status}"
            if status < 0:
                how = f"was killed by {signal.Signals(-status).name}"
        words = last_line(rank_program.error_file(self._folder, rank)) or self._launcher_words()
        return f"{how} ({words})" if words else how

    def _launcher_words(self) -> str:
        return last_line(self._folder / LAUNCHER_WORDS)

    def _end(self, process: Process, seconds: float) -> None:
        """Wait at most `seconds` for the ranks to end, kill the others, and wait for their end."""
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        for rank, line in self._lines.items():
            if line.fileno() >= 0:  # alive: mpirun gives each rank a process group of its own
                with suppress(ProcessLookupError):
                    os.kill(self.pids[rank], signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            process.wait(ENDING_SECONDS)
        for line in self._lines.values():
            line.wait_for_end(ENDING_SECONDS)


def last_line(path: Path) -> str:
    """Return the last line of a file that is not blank, "" if none exists."""
    with suppress(OSError):
        lines = path.read_text(errors="replace").splitlines()
        return next((line.strip() for line in reversed(lines) if line.strip(" -*=")), "")
    return ""
