"""Files that a fork of this process writes, while this one writes others."""

import mmap
import os
import resource
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from deepbench_ops import process_lifetime
from deepbench_ops.backends import free_memory
from deepbench_ops.process_lifetime import FORKS

Item = TypeVar("Item")

ROOM = 2.0
"""Free memory that a fork needs, in sizes of this process: each page of memory that one of the two
writes to is copied, and the process that makes asv's pages grows at the same time."""


@contextmanager
def divided(items: Sequence[Item], write: Callable[[Item], None]) -> Iterator[Iterator[Item]]:
    """Yield the items to be written in the block, while a fork runs `write` for the others.

    Each process takes the next item when it has written its last one, so that both end at about
    the same time if the longest items come first. `write` only writes files. If the fork failed,
    `write` runs here for all that the block has not taken; see `written_meanwhile`.
    """
    if not items:
        yield iter(())
        return
    ours: set[int] = set()
    with mmap.mmap(-1, len(items)) as taken:  # a byte for each item, seen by both processes

        def untaken() -> Iterator[int]:
            for place in range(len(items)):
                if not taken[place]:
                    taken[place] = 1  # if both are here at once, both write the same file
                    yield place

        def write_theirs() -> None:
            for place in untaken():
                write(items[place])

        def write_rest() -> None:
            for place, item in enumerate(items):
                if place not in ours:
                    write(item)

        def take_ours() -> Iterator[Item]:
            for place in untaken():
                ours.add(place)
                yield items[place]

        with written_meanwhile(write_theirs, write_rest):
            yield take_ours()


@contextmanager
def written_meanwhile(
    write: Callable[[], None], instead: Callable[[], None] | None = None
) -> Iterator[None]:
    """Run `write`, which only writes files, in a fork while the block runs.

    If the fork failed, was killed or cannot be made, as where memory has no room for it, `instead`
    (by default `write`) runs in this process after the block, and its error is raised. The fork
    ends at once if the block raises, and at Ctrl-C, also while it is started or waited for.
    """
    fork: int | None = None
    written = False
    try:
        with process_lifetime.children_without_interrupts():
            fork = _fork(write) if FORKS and _has_room() else None
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
        (instead or write)()


def _has_room() -> bool:
    """Whether there is enough memory for a fork of this process."""
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return free_memory.available() > ROOM * own


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
