"""Fork of this process, instead of a new program that would import the same library again.

asv's processes have imported torch and not used it, so a fork of one is the same as the fork server
after seconds of imports. After a thread has started, a fork would have an incomplete thread pool;
then the program is started instead.
"""

import os
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from functools import partial
from typing import NoReturn

from deepbench_ops.distributed import transport_interface
from deepbench_ops.measure.threads import TASKS

TICK_SECONDS = 0.01


def possible(name: str) -> bool:
    """Return whether this process may be forked: it has imported the transport's library, has a
    single thread, and the transport uses no accelerator."""
    declared = transport_interface.declaration(name)
    suited = not declared.uses_device and declared.library in sys.modules
    return suited and TASKS.exists() and len(list(TASKS.iterdir())) == 1


class Forked:
    """A function that runs in a fork, with the methods of `subprocess.Popen`.

    environ: all environment variables of the fork. output: descriptor of the file for its output.
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
        """Return the exit status; raise TimeoutExpired if the process does not end in time."""
        end = time.monotonic() + timeout
        while (status := self.poll()) is None:
            if time.monotonic() > end:
                raise subprocess.TimeoutExpired(str(self.pid), timeout)
            time.sleep(TICK_SECONDS)
        return status


def finish(work: Callable[[], None]) -> NoReturn:
    """Do the work in a fork and end the process, without a return to the forked code."""
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
    """Do the work like a separate program: in its own session, with its own environment."""
    os.setsid()
    for theirs, own in ((os.open(os.devnull, os.O_RDONLY), 0), (output, 1), (output, 2)):
        os.dup2(theirs, own)
    os.environ.clear()
    os.environ.update(environ)
    work()
