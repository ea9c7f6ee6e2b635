"""Temporary folders; those that killed processes left are removed by the next one."""

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

LOCK = "in-use.lock"
UNLOCKED_SECONDS = 3600.0
"""Age from which a folder without a lock file is of no process: a lock is made at once."""


@contextmanager
def folder(parent: Path, prefix: str) -> Iterator[Path]:
    """Yield a new folder in `parent`, removed at the end, and remove folders that others left.

    A folder is in use while a process holds the lock file in it.
    """
    parent.mkdir(parents=True, exist_ok=True)
    for left in parent.glob(f"{prefix}*"):
        _sweep(left)
    with (
        tempfile.TemporaryDirectory(prefix=prefix, dir=parent, ignore_cleanup_errors=True) as name,
        FileLock(Path(name, LOCK), timeout=0),
    ):
        yield Path(name)


def _sweep(left: Path) -> None:
    """Remove a folder that no process uses."""
    try:
        if not (left / LOCK).exists():
            if time.time() - left.stat().st_mtime > UNLOCKED_SECONDS:
                shutil.rmtree(left, ignore_errors=True)
            return
        with FileLock(left / LOCK, timeout=0):
            shutil.rmtree(left, ignore_errors=True)
    except (Timeout, OSError):  # in use, or removed by another process meanwhile
        return
