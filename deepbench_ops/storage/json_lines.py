"""JSON objects, one a line: their text, and files that grow while something is measured.

Appended objects are on the disk on return, each with a checksum. A process that is killed
leaves half a line at most, which costs no other line.
"""

import json
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from deepbench_ops.storage import bounded_read

CHECKSUM = "crc32"
"""The key of the checksum of an object that was appended."""


def as_text(entries: Iterable[Mapping[str, Any]], allow_nan: bool = False) -> str:
    """Return objects as text, a line each.

    allow_nan: whether numbers may be NaN or infinite, which strict JSON lacks. Raises ValueError
    for one that may not.
    """
    return "".join(json.dumps(entry, allow_nan=allow_nan) + "\n" for entry in entries)


def append(path: Path, entries: Iterable[Mapping[str, Any]]) -> None:
    """Append objects to a file, which is made with its folder where it is missing.

    Raises OSError naming the file, as on a full disk; it is as it was before then.
    """
    text = as_text(({**each, CHECKSUM: _checksum(each)} for each in entries), allow_nan=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab+", buffering=0) as file:
        start = file.seek(0, os.SEEK_END)
        if start and not _ends_a_line(file.fileno(), start):
            text = "\n" + text
        rest = memoryview(text.encode())
        try:
            while rest:
                rest = rest[file.write(rest) :]
            os.fsync(file.fileno())
        except OSError as error:
            os.ftruncate(file.fileno(), start)
            raise OSError(error.errno, os.strerror(error.errno or 0), str(path)) from error


def read(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file in order, none where it is missing.

    Lines that are no whole object, or do not match their checksum, are left out. Raises OSError for
    a file that cannot be read, and DeepbenchError for one that is no file or too large.
    """
    try:
        lines = bounded_read.read_bytes(path, bounded_read.RECORDS).splitlines()
    except FileNotFoundError:
        return
    for line in lines:
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(entry, dict):
            checksum = entry.pop(CHECKSUM, None)  # None: written as a whole, or by version 0.1.0
            if checksum in (None, _checksum(entry)):
                yield entry


def _ends_a_line(file: int, size: int) -> bool:
    return os.pread(file, 1, size - 1) == b"\n"


def _checksum(entry: Mapping[str, Any]) -> str:
    return f"{zlib.crc32(json.dumps(entry).encode()):08x}"
