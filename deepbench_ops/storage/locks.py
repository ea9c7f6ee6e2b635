"""Locks between processes: one writer at a time in a results folder, one run at a time in a clone.

A lock is a file that the operating system holds for a process and gives back when that ends, even
by a kill. Next to it lies a file that describes the holder, which is only read for messages.
"""

import getpass
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path

from filelock import BaseFileLock, FileLock, Timeout

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.storage import atomic_write

NAME = ".deepbench.lock"
"""The file that is locked. It stays when the lock is free: removing it would split the lock."""

WAIT_SECONDS = 30.0
"""Seconds that a writer waits for another one: longer than any writes."""

QUIET_SECONDS = 2.0
"""Seconds that it waits without a message."""

FOREVER = -1.0
"""filelock's time limit for none."""


@contextmanager
def results(folder: Path, doing: str) -> Iterator[None]:
    """Be the only writer in a results folder, as `writing`.

    Unfinished files that killed writers left in the folders of machines are removed.
    """
    with writing(folder, doing):
        if _lock_of(folder / NAME).lock_counter == 1:
            atomic_write.sweep(folder)
        yield


@contextmanager
def writing(folder: Path, doing: str) -> Iterator[None]:
    """Be the only process that changes a folder's files, which is made where it is missing.

    doing: the command, for the message of another process that wants to write.
    A process that has the lock may take it again. Raises DeepbenchError where another process has
    it for longer than `WAIT_SECONDS`, and where the folder cannot be written to.
    """
    with ExitStack() as held:
        try:
            held.enter_context(_holding(folder / NAME, doing, QUIET_SECONDS))
        except Timeout:
            print(f"waiting: {_writer(folder)}", file=sys.stderr, flush=True)
            try:
                held.enter_context(_holding(folder / NAME, doing, WAIT_SECONDS - QUIET_SECONDS))
            except Timeout:
                raise DeepbenchError(f"{_writer(folder)}: try again when it has ended") from None
        yield


@contextmanager
def in_turn(folder: Path, doing: str, name: str = NAME, most: float = FOREVER) -> Iterator[None]:
    """Be the only process that holds a folder's lock, after all that came before.

    The folder is made where it is missing. name: of the file that is locked, which nothing else
    locks. most: seconds to wait, without a limit unless given. Raises DeepbenchError after them.
    """
    path = folder / name
    with ExitStack() as held:
        try:
            held.enter_context(_holding(path, doing, QUIET_SECONDS))
        except Timeout:
            print(f"waiting for {_holder(path)[1]}", file=sys.stderr, flush=True)
            try:
                held.enter_context(_holding(path, doing, most))
            except Timeout:
                raise DeepbenchError(
                    f"{_holder(path)[1]} holds {path} for more than {most:.0f} s: end it, or try"
                    " again when it has ended"
                ) from None
        yield


@contextmanager
def measuring(folder: Path | None, doing: str) -> Iterator[None]:
    """Be the only run that measures in a project, whose files of runs are in `folder`; None outside
    a project.

    Runs of one user in other projects of the same machine get a warning. Raises DeepbenchError
    naming the run that measures here already, at once: no one expects a run to wait for hours.
    """
    with ExitStack() as held:
        if folder is not None:
            held.enter_context(_only_one(folder, doing))
        machine = of_user()
        try:
            held.enter_context(_holding(machine / NAME, doing, 0.0))
        except Timeout:
            holder = _holder(machine / NAME)[1]
            print(
                f"warning: {holder} measures on this machine too: the times of both will be"
                " disturbed",
                file=sys.stderr,
                flush=True,
            )
        except DeepbenchError:
            pass  # another user's folder, or none: measuring needs no such warning
        yield


@contextmanager
def _only_one(folder: Path, doing: str) -> Iterator[None]:
    with ExitStack() as held:
        try:
            held.enter_context(_holding(folder / NAME, doing, 0.0))
        except Timeout:
            pid, holder = _holder(folder / NAME)
            raise DeepbenchError(
                f"{holder} measures here already, and two at once would disturb each other: wait"
                f" for it, such as with: while kill -0 {pid}; do sleep 5; done"
            ) from None
        yield


@contextmanager
def _holding(path: Path, doing: str, wait: float) -> Iterator[None]:
    """Hold the lock file `path`. Raises filelock's Timeout after `wait` seconds."""
    lock = _lock_of(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=wait, poll_interval=0.05)
    except Timeout:
        raise
    except OSError as error:
        raise DeepbenchError(
            f"{path.parent} cannot be written to ({error.strerror or error}): {doing} needs"
            " to, so make it writable"
        ) from None
    outermost = lock.lock_counter == 1
    try:
        if outermost:
            _describe(path, doing)
        yield
    finally:
        if outermost:
            with suppress(OSError):
                _description(path).unlink()
        lock.release()


def of_user() -> Path:
    """Return this user's folder for locks of the whole machine."""
    return Path(tempfile.gettempdir(), f"deepbench-{_user()}")


def _user() -> str:
    """Return the user's name, or number where the system has no name of it."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def _lock_of(path: Path) -> BaseFileLock:
    return _lock(os.path.realpath(path), os.getpid())


@cache
def _lock(path: str, _process: int) -> BaseFileLock:
    """Return the one lock object of a file in a process, which counts how often it is held."""
    return FileLock(path, thread_local=False)


def _description(path: Path) -> Path:
    return path.with_name(f"{path.name}.holder")


def _describe(path: Path, doing: str) -> None:
    """Say who holds a lock; where the disk is full the lock is held without.

    Unfinished descriptions of killed holders are removed.
    """
    about = {
        "pid": os.getpid(),
        "host": platform.node(),
        "doing": doing,
        "since": time.strftime("%Y-%m-%d %H:%M:%S"),
    }
    target = _description(path)
    with suppress(OSError):
        for left in path.parent.glob(f".{target.name}.*{atomic_write.SUFFIX}"):
            left.unlink(missing_ok=True)
        atomic_write.write_text(target, json.dumps(about))


def _holder(path: Path) -> tuple[str, str]:
    """Return the id of the process that holds a lock, and a phrase with its id, work and start, and
    its host where that is another one."""
    try:
        about = json.loads(_description(path).read_text(encoding="utf-8"))
        pid, host = str(about["pid"]), about.get("host", platform.node())
        where = "" if host == platform.node() else f" on {host}"
        return pid, f"process {pid}{where} ({about['doing']}, since {about['since']})"
    except (OSError, ValueError, TypeError, KeyError):
        return "PID", "another process"


def _writer(folder: Path) -> str:
    return f"{_holder(folder / NAME)[1]} writes in {folder}"
