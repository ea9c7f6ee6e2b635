"""Files that a fork of this process writes, while this one writes others."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from deepbench_ops import process_lifetime
from deepbench_ops.process_lifetime import FORKS


@contextmanager
def written_meanwhile(write: Callable[[], None]) -> Iterator[None]:
    """Run `write`, which only writes files, in a fork while the block runs.

    If the fork failed, was killed or cannot be made, `write` runs in this process after the block,
    and its error is raised. The fork ends at once if the block raises, and at Ctrl-C, also while it
    is started or waited for.
    """
    fork: int | None = None
    written = False
    try:
        with process_lifetime.children_without_interrupts():
            fork = _fork(write) if FORKS else None
        yield
        if fork is not None:
            # The ended fork keeps its number, so that no other process has it below.
            ended = os.waitid(os.P_PID, fork, os.WEXITED | os.WNOWAIT)
            written = ended is not None and ended.si_status == 0
    finally:
        if fork is not None:
            with process_lifetime.children_without_interrupts():
                os.kill(fork, signal.SIGKILL)
                os.waitpid(fork, 0)
    if not written:
        write()


def _fork(write: Callable[[], None]) -> int | None:
    """Return the id of a fork that runs `write`, and ends with status 0 if that succeeds.

    None where no process can be made.
    """
    this = os.getpid()
    try:
        fork = os.fork()
    except OSError:
        return None
    if fork:
        return fork
    status = 1
    try:
        process_lifetime.end_with(this)
        write()
        status = 0
    finally:
        os._exit(status)  # without a return to the forked code, nor a traceback of its own
