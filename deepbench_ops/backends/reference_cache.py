"""Cache of the float64 values with which sampled entries of an output are compared.

They depend on the operands, the entries and this program. So they are the same in each process that
measures a point, for each implementation of an operation and for each release, and are stored where
computing them takes long. Stored with them is a digest of the operands: values of other operands
than those of the process that reads them count as absent. The outputs themselves are read and
compared in every process.
"""

import hashlib
import json
import os
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

from deepbench_ops.backends.kernel import Index, Reference, ReferenceSource
from deepbench_ops.storage import bounded_read, checked_file, input_digest

FOLDER_VARIABLE = "DEEPBENCH_REFERENCES"
"""Environment variable with the folder of the cache; nothing is stored where it is not set."""

LONG_SECONDS = 0.1
"""Values that are computed faster are not stored."""

DIGEST_RATE = 0.5e9
"""Bytes of operands in a second: values that are computed faster than this are not stored, since a
digest of the operands would take half as long. One thread makes a digest of 1.4e9."""

MOST_FILES = 4096
"""Files in the folder, of about 4 kB each; the oldest make room for new ones."""

PART = 2**24
"""Bytes of an operand that one thread makes a digest of."""

PACKAGE = Path(__file__).parent.parent
CODE = ("backends/*.py", "backends/families/*.py", "problems/*.py", "random_operands.py")
"""Files of the package whose code computes the values."""

Expectation = tuple[np.ndarray, np.ndarray]
"""Expected values, and the error allowed at each."""


class StoredReferences:
    """Values of the references of one kernel, for one comparison.

    The digest of its operands is made once, at its first use.
    """

    def __init__(self, source: ReferenceSource | None) -> None:
        """Take the source of the references; None for a kernel whose values are not stored."""
        self._source = source

    def at(self, output: str, reference: Reference, index: Index) -> tuple[Expectation, bool]:
        """Return (expected, allowed) of an output at the entries `index`, and whether they were
        stored: those that were not are computed, and stored if that took long."""
        path = self._path(output)
        if path is None:
            return reference.at(index), False
        made_of = f"{code()} numpy {np.__version__} entries {digest_of(_named(index))}"
        known = _read(path, made_of)
        if known is not None and known["operands"] == self._operands:
            return _arrays(known), True
        started = time.perf_counter()
        found = reference.at(index)
        if self._is_worth_storing(time.perf_counter() - started):
            content = {"operands": self._operands, "values": [_listed(each) for each in found]}
            with suppress(OSError):  # a full disk, or a folder of someone else
                _make_room(path.parent)
                checked_file.write(path, json.dumps(content).encode(), made_of)
        return found, False

    @cached_property
    def _operands(self) -> str:
        assert self._source is not None
        return digest_of(self._source.operands())

    def _is_worth_storing(self, seconds: float) -> bool:
        if seconds < LONG_SECONDS or self._source is None:
            return False
        size = sum(each.nbytes for each in self._source.operands().values())
        return seconds > size / DIGEST_RATE

    def _path(self, output: str) -> Path | None:
        folder = os.environ.get(FOLDER_VARIABLE)
        if not folder or self._source is None:
            return None
        key = repr((*self._source.name, output, np.__version__))  # releases have several of numpy
        name = hashlib.sha1(key.encode(), usedforsecurity=False)
        return Path(folder, f"{name.hexdigest()}.json")


@cache
def code() -> str:
    """Return the digest of the code that computes the values."""
    return input_digest.of_files(path for pattern in CODE for path in PACKAGE.glob(pattern))


def digest_of(arrays: Mapping[str, np.ndarray]) -> str:
    """Return the digest of arrays with their names, types and shapes, in hexadecimal."""
    whole = hashlib.sha256()
    with ThreadPoolExecutor(os.cpu_count()) as crew:
        for name, values in arrays.items():
            whole.update(f"{name} {values.dtype.str} {values.shape}\n".encode())
            flat = np.ascontiguousarray(values).reshape(-1).view(np.uint8)
            parts = [flat[start : start + PART] for start in range(0, flat.size, PART)]
            for digest in crew.map(_digest_of_part, parts):
                whole.update(digest)
    return whole.hexdigest()


def _digest_of_part(part: np.ndarray) -> bytes:
    return hashlib.sha256(part.data).digest()


def _named(index: Index) -> dict[str, np.ndarray]:
    return {f"axis {number}": axis for number, axis in enumerate(index)}


def _read(path: Path, made_of: str) -> Any | None:
    content = checked_file.read(path, bounded_read.SMALL, made_of)
    return None if content is None else json.loads(content)


def _arrays(known: Any) -> Expectation:
    expected, allowed = (np.array(numbers, kind) for kind, numbers in known["values"])
    return expected, allowed


def _listed(values: np.ndarray) -> tuple[str, list[float]]:
    return values.dtype.str, values.tolist()


def _make_room(folder: Path) -> None:
    """Remove the oldest files of the folder until another one has room."""
    found = list(folder.iterdir()) if folder.is_dir() else []
    if len(found) < MOST_FILES:
        return
    found.sort(key=lambda path: path.stat().st_mtime)
    for path in found[: len(found) - MOST_FILES + 1]:
        path.unlink(missing_ok=True)
