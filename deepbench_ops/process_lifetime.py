"""End child processes with the process that started them, however that one ends.

Linux sends a child a signal of its choice when the thread that started it ends; SIGKILL ends
stopped processes as well. Other systems have no such signal: there a child ends when the pipe or
socket from its parent closes, which a stopped one does not notice.

``python process_lifetime.py PARENT SIGNAL COMMAND...`` becomes the program of the command, bound to
its parent.
"""

import ctypes
import errno
import os
import select
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache

PR_SET_PDEATHSIG = 1

FORKS = sys.platform == "linux"
"""Whether this process may fork: other systems' libraries may not work in a fork."""


def bound(command: Sequence[str], by: int = signal.SIGKILL) -> list[str]:
    """Return the command line that runs `command` in a process that gets signal `by` when this one
    ends.

    This file is run first and becomes the program: the setting outlives that, but not a fork made
    by the program. A `preexec_fn` would fork this process, which libraries with threads, such as
    jax, warn of. Raises FileNotFoundError where there is no such program.
    """
    if shutil.which(command[0]) is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), command[0])
    return [sys.executable, "-IS", __file__, str(os.getpid()), str(int(by)), *command]


def end_with(parent: int, by: int = signal.SIGKILL) -> None:
    """Have this process get signal `by` when its parent ends; at once if it has ended already.

    parent: the process id that `os.getppid` returns while the parent lives.
    """
    prctl = _prctl()
    if prctl is None:
        return
    prctl(PR_SET_PDEATHSIG, int(by), 0, 0, 0)
    if os.getppid() != parent:
        os.kill(os.getpid(), by)


def outlive_parent() -> None:
    """Undo `end_with`, for a process that has something to clean up when its parent has ended."""
    if (prctl := _prctl()) is not None:
        prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0)


def end_when_unread(descriptor: int) -> None:
    """End this process by SIGTERM when the reader of a pipe or socket that it writes to has gone.

    ssh ends no process on a host when its connection is closed; only this tells. A thread waits for
    it. A file has no reader that could go.
    """

    def wait() -> None:
        gone = select.poll()
        gone.register(descriptor, 0)
        if gone.poll()[0][1] & (select.POLLERR | select.POLLHUP):
            os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, daemon=True).start()


@contextmanager
def children_without_interrupts() -> Iterator[None]:
    """Keep Ctrl-C from processes that are forked in the block; this one gets it after the block."""
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


@cache
def bind_forks() -> None:
    """End every process that this one forks from now on with it, and those that they fork in turn.

    Programs started by `subprocess` are not among them: `bound` is for these.
    """
    parent: list[int] = []

    def before() -> None:
        parent[:] = [os.getpid()]

    _prctl()
    os.register_at_fork(before=before, after_in_child=lambda: end_with(parent[0]))


@cache
def _prctl() -> Callable[..., int] | None:
    """The function `prctl` of Linux, with which a process changes its own settings; else None."""
    if sys.platform != "linux":
        return None
    found: Callable[..., int] | None = getattr(ctypes.CDLL(None), "prctl", None)
    return found


if __name__ == "__main__":
    end_with(int(sys.argv[1]), int(sys.argv[2]))
    os.execvp(sys.argv[3], sys.argv[3:])
