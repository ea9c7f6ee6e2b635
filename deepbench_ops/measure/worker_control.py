"""Control of a worker process: start, stop, continue and end it, and time slices in it.

The process runs `measure.worker_program` in the environment of a release. Ctrl-C reaches only the
process that commands it, which then ends its workers. They end with it as well when it is killed.
"""

import math
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from deepbench_ops import process_lifetime, process_messages
from deepbench_ops.errors import DeepbenchError

START_SECONDS = 600.0
"""Time limit of a worker's start: one that is not ready after so long is given up."""

ANSWER_SECONDS = 600.0
"""Time limit of an answer: a worker that runs for so long without one is given up."""

WAKE_SECONDS = 1.0
"""A worker that another program stops while it should run goes on after so long at most."""


@dataclass(frozen=True)
class Launch:
    """Start of one side: a release's interpreter, variables that select it, and its program."""

    python: str
    environ: Mapping[str, str] = field(default_factory=dict)
    program: tuple[str, ...] = ("-m", "deepbench_ops.measure.worker_program")


class WorkerEnded(DeepbenchError):
    """A worker that ended before it answered. The message has the last line that it printed."""


class LiveWorker:
    """A worker, pinned to cores, that runs only while an answer is awaited."""

    def __init__(self, launch: Launch, cores: set[int]) -> None:
        # Libraries warn in every process that they start.
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (`close` closes it)
        self._process = subprocess.Popen(
            process_lifetime.bound([launch.python, *launch.program]),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**os.environ, **launch.environ},
            process_group=0,
        )
        try:
            os.sched_setaffinity(self._process.pid, cores)
            if self.go_on(START_SECONDS) is None:
                raise DeepbenchError(
                    f"a worker was not ready after {START_SECONDS:.0f} s: {launch.python}"
                )
        except BaseException:
            self.close()
            raise

    def ask(self, **command: object) -> dict[str, float]:
        """Return the worker's answer to a command; the worker is stopped again then.

        Raises DeepbenchError with the worker's own reason when it answers with an error.
        """
        self.send(**command)
        answer = self.go_on()
        assert answer is not None
        return answer

    def send(self, **command: object) -> None:
        """Give the worker a command, which it reads when it goes on."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # it has ended: the missing answer will show that
            process_messages.write(self._process.stdin, command)

    def go_on(self, seconds: float | None = None) -> dict[str, float] | None:
        """Let it run until it answers, or for so long; return the answer, None where none came.

        It is stopped again, unless it ended. Raises WorkerEnded then, and DeepbenchError with the
        worker's own reason where it answers with an error.
        """
        assert self._process.stdout is not None
        until = math.inf if seconds is None else time.monotonic() + seconds
        ready = False
        while not ready and (left := until - time.monotonic()) > 0:
            self._process.send_signal(signal.SIGCONT)
            wait = min(left, WAKE_SECONDS)
            ready = bool(select.select([self._process.stdout], [], [], wait)[0])
        answer = self._line() if ready else None
        self.freeze()
        return None if answer is None else _checked(answer)

    def freeze(self) -> None:
        """Stop the process and its threads, and return once they have stopped."""
        os.kill(self._process.pid, signal.SIGSTOP)
        os.waitpid(self._process.pid, os.WUNTRACED)

    def close(self) -> None:
        """End the process, whatever state it is in."""
        self._process.kill()
        self._process.communicate()
        self._errors.close()

    def _line(self) -> dict[str, float]:
        assert self._process.stdout is not None
        answer = process_messages.read(self._process.stdout)
        if answer is None:
            command = " ".join(self._process.args)  # type: ignore[arg-type]
            raise WorkerEnded(f"a worker ended early: {command}{self._last_error()}")
        return answer

    def _last_error(self) -> str:
        """Return the last line on the standard error of a process that has ended, after a colon."""
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").split("\n")
        return next((f": {line.strip()}" for line in reversed(lines) if line.strip()), "")


def _checked(answer: dict[str, float]) -> dict[str, float]:
    if "error" in answer:
        raise DeepbenchError(str(answer["error"]))
    return answer
