"""JSON objects, one a line: their text, and files that grow while something is measured.

Appended objects are on the disk on return, each with a checksum. A process that is killed
leaves half a line at most, which costs no other line.
"""

import json
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.storage import bounded_read

CHECKSUM = "crc32"
"""The key of the checksum of an object that was appended."""

Loads = Callable[[Any], Any]
"""A parser of JSON that raises ValueError: json's, or orjson's where many lines are read."""


class DamagedLine(ValueError):
    """A line that is JSON and cannot be right; the text says why."""


def as_text(entries: Iterable[Mapping[str, Any]], allow_nan: bool = False) -> str:
    """Return objects as text, a line each.

    allow_nan: whether numbers may be NaN or infinite, which strict JSON lacks. Raises ValueError
    for one that may not.
    """
    return "".join(json.dumps(entry, allow_nan=allow_nan) + "\n" for entry in entries)


def append(path: Path, entries: Iterable[Mapping[str, Any]]) -> None:
    """Append objects to a file, which is made with its folder where it is missing.

    Raises OSError naming the file, as on a full disk, and ValueError for an object that has the key
    CHECKSUM itself; the file is as it was before then.
    """
    entries = list(entries)
    if any(CHECKSUM in each for each in entries):
        raise ValueError(f"an object to append has the key {CHECKSUM}, which holds its checksum")
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
    for entry in objects(lines):
        checksum = entry.pop(CHECKSUM, None)  # None: written as a whole, or by version 0.1.0
        if checksum in (None, _checksum(entry)):
            yield entry


def objects(lines: Iterable[bytes], loads: Loads = json.loads) -> Iterator[dict[str, Any]]:
    """Yield the objects of lines in order; lines that are no whole object are left out."""
    for line in lines:
        try:
            entry = loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(entry, dict):
            yield entry


def parsed(text: str) -> list[dict[str, Any]]:
    """Return the objects of a text that was written as a whole. Raises ValueError."""
    return [json.loads(line) for line in text.splitlines()]


def take_each(
    text: str | bytes,
    where: str,
    kind: str,
    take: Callable[[Any, Any], None],
    loads: Loads = json.loads,
    wanted: Callable[[Any], bool] = lambda line: True,
) -> None:
    """Call `take` with the entry and the text of each line.

    Raises DeepbenchError naming file and line where a line is no JSON, or `take` raises DamagedLine
    or finds that the entry lacks something. where: the file. kind: of the lines, with its article.
    wanted: whether a line is read at all.
    """
    for number, line in enumerate(text.splitlines(), 1):
        if not wanted(line):
            continue
        try:
            take(loads(line), line)
        except (ValueError, KeyError, TypeError, RecursionError) as wrong:
            reason = wrong if isinstance(wrong, DamagedLine) else "torn"
            raise DeepbenchError(
                f"{where}: line {number} is not {kind} ({reason}); restore the file or remove the"
                " line"
            ) from None


def _ends_a_line(file: int, size: int) -> bool:
    return os.pread(file, 1, size - 1) == b"\n"


def _checksum(entry: Mapping[str, Any]) -> str:
    return f"{zlib.crc32(json.dumps(entry).encode()):08x}"
