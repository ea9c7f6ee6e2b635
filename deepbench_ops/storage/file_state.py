"""State of a file, by which a process notices that it was written again."""

from pathlib import Path

FileState = tuple[int, int, int]
"""Inode, bytes, and nanoseconds of the last change."""


def state(path: Path) -> FileState:
    """Return the state of a file. Raises OSError where there is none."""
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns
