"""Worker process of a release, one side of a pair: asked for slices, and stopped in between.

Ctrl-C reaches the process that asks alone, which then ends its workers; they end with it as well
when it is killed.
"""

import json
import os
import select
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from deepbench_ops import lifetime
from deepbench_ops.errors import DeepbenchError


@dataclass(frozen=True)
class Launch:
    """How to start one side: a release's interpreter, what selects it, and what it runs."""

    python: str
    environ: Mapping[str, str] = field(default_factory=dict)
    program: tuple[str, ...] = ("-m", "deepbench_ops.measure.worker")


class WorkerEnded(DeepbenchError):
    """A worker that ended before it answered."""


class LiveWorker:
    """A worker, pinned to cores, that runs when it is told to go on and not otherwise."""

    def __init__(self, launch: Launch, cores: set[int]) -> None:
        self._process = subprocess.Popen(
            [launch.python, *launch.program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **launch.environ},
            process_group=0,
            preexec_fn=lifetime.with_this_process(),
        )
        try:
            os.sched_setaffinity(self._process.pid, cores)
            _checked(self._line())
            self.freeze()
        except BaseException:
            self.close()
            raise

    def ask(self, **command: object) -> dict[str, float]:
        """Give the worker a command, and return what it answers, stopped again.

        Raises DeepbenchError with the worker's own reason when it answers with an error.
        """
        self.tell(**command)
        answer = self.go_on()
        assert answer is not None
        return answer

    def tell(self, **command: object) -> None:
        """Give the worker a command, which it reads when it goes on."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # it has ended, and the missing answer will say so
            self._process.stdin.write(json.dumps(command) + "\n")
            self._process.stdin.flush()

    def go_on(self, seconds: float | None = None) -> dict[str, float] | None:
        """Let it run until it answers, or for so long; return the answer, None where none came.

        It is stopped again, unless it ended. Raises WorkerEnded then, and DeepbenchError with the
        worker's own reason where it answers with an error.
        """
        assert self._process.stdout is not None
        self._process.send_signal(signal.SIGCONT)
        ready, _, _ = select.select([self._process.stdout], [], [], seconds)
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

    def _line(self) -> dict[str, float]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise WorkerEnded(f"a worker ended early: {' '.join(self._process.args)}")  # type: ignore[arg-type]
        return dict(json.loads(line))


def _checked(answer: dict[str, float]) -> dict[str, float]:
    if "error" in answer:
        raise DeepbenchError(str(answer["error"]))
    return answer
