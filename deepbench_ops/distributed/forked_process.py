"""Fork of this process, in place of a program that would import the same library again.

asv's processes have imported torch and done nothing with it, so that a fork of one equals the
fork server after seconds of importing. Once anything has started a thread, a fork would have half
of a pool: then the program is started instead.
"""

import os
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import NoReturn

from deepbench_ops.distributed import transport

TASKS = Path("/proc/self/task")

TICK_SECONDS = 0.01

WITHOUT_DEVICE = ("gloo",)
"""Transports whose ranks open no accelerator: a fork of a process that has looked for one
cannot."""


def possible(name: str) -> bool:
    """Return whether this process has the transport's library, one thread, and nothing else."""
    imported = name in WITHOUT_DEVICE and transport.library(name) in sys.modules
    return imported and TASKS.exists() and len(list(TASKS.iterdir())) == 1


class Forked:
    """A function in a fork, with the methods of `subprocess.Popen`.

    environ: all of its environment variables. output: descriptor of the file for its output.
    """

    def __init__(self, work: Callable[[], None], environ: Mapping[str, str], output: int) -> None:
        self._status: int | None = None
        self.pid = os.fork()
        if not self.pid:
            finish(partial(_begin, work, environ, output))

    def poll(self) -> int | None:
        """Return the exit status, None while it runs."""
        if self._status is None:
            ended, status = os.waitpid(self.pid, os.WNOHANG)
            if ended:
                self._status = os.waitstatus_to_exitcode(status)
        return self._status

    def wait(self, timeout: float) -> int:
        """Return the exit status; TimeoutExpired when there is none in time."""
        end = time.monotonic() + timeout
        while (status := self.poll()) is None:
            if time.monotonic() > end:
                raise subprocess.TimeoutExpired(str(self.pid), timeout)
            time.sleep(TICK_SECONDS)
        return status


def finish(work: Callable[[], None]) -> NoReturn:
    """Do the work in a fork and end with it, never returning into the code that was forked."""
    status = 1
    try:
        work()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def _begin(work: Callable[[], None], environ: Mapping[str, str], output: int) -> None:
    """Do the work like a separate program: in its own session, with its own variables."""
    os.setsid()
    for theirs, own in ((os.open(os.devnull, os.O_RDONLY), 0), (output, 1), (output, 2)):
        os.dup2(theirs, own)
    os.environ.clear()
    os.environ.update(environ)
    work()
