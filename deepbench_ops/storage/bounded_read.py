"""Read a file up to a size, so that no file of another's can fill the memory."""

import stat
from pathlib import Path

from deepbench_ops.errors import DeepbenchError

RESULT = 64_000_000
"""Bytes of a file of results; the largest that this suite has written has 5 million."""

RECORDS = 512_000_000
"""Bytes of a file of raw seconds, which grow with every round."""

SMALL = 4_000_000
"""Bytes of a file that describes something: a profile, a configuration, a table."""


def read_bytes(path: Path, largest: int) -> bytes:
    """Return the content of a file.

    Raises DeepbenchError for more than `largest` bytes and for a path that is no file, such as a
    device or a pipe; OSError where it cannot be opened.
    """
    demand_file(path)
    with path.open("rb") as stream:
        content = stream.read(largest + 1)
    if len(content) > largest:
        raise _too_large(path, largest)
    return content


def read_input(path: Path, largest: int) -> bytes:
    """Return the content of a file that the user names. Raises DeepbenchError, naming it, where
    `read_bytes` raises."""
    try:
        return read_bytes(path, largest)
    except OSError as error:
        raise DeepbenchError(f"{path}: {error.strerror}") from None


def read_text(path: Path, largest: int) -> str:
    """Return the content of a file in UTF-8. Raises as `read_bytes` does, and DeepbenchError for
    another encoding."""
    return decoded(path, read_bytes(path, largest))


def decoded(path: Path, content: bytes) -> str:
    """Return the content of a file as text. Raises DeepbenchError for one that is not in UTF-8."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as wrong:
        raise DeepbenchError(f"{path}: no text in UTF-8 (byte {wrong.start})") from None


def demand_file(path: Path) -> None:
    """Raise DeepbenchError for a path that is no regular file, OSError where nothing is there."""
    if not stat.S_ISREG(path.stat().st_mode):
        kind = "a folder" if path.is_dir() else "a device or a pipe"
        raise DeepbenchError(f"{path}: {kind}: give a file")


def demand_smaller(path: Path, largest: int) -> None:
    """Raise DeepbenchError as `read_bytes` does, before another library reads the file."""
    demand_file(path)
    if path.stat().st_size > largest:
        raise _too_large(path, largest)


def _too_large(path: Path, largest: int) -> DeepbenchError:
    return DeepbenchError(f"{path}: larger than {largest / 1e6:.0f} MB, the most that is read")
