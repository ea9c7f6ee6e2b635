"""Values that are computed once and stored, as JSON below a checksum of them and their inputs.

A cache may be damaged, or written by anyone: it is data, never code, and a file that does not match
its checksum counts as absent. Not for measured environments, which lack orjson.
"""

import hashlib
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.storage import atomic_write, bounded_read

LARGEST = 512_000_000
"""Bytes of a cache."""


def read(path: Path, made_of: str = "") -> Any | None:
    """Return the stored value, None where there is none, it was made of something else, or it is
    damaged."""
    with suppress(OSError, DeepbenchError, ValueError):
        digest, _, content = bounded_read.read_bytes(path, LARGEST).partition(b"\n")
        if digest == _digest(content, made_of):
            return orjson.loads(content)
    return None


def write(path: Path, value: Any, made_of: str = "") -> None:
    """Store a value of JSON's types, NaN as None. Raises OSError.

    It does not wait for the disk: a file that a power failure has torn counts as absent.
    """
    content = orjson.dumps(value)
    atomic_write.write_bytes(path, _digest(content, made_of) + b"\n" + content, durable=False)


def _digest(content: bytes, made_of: str) -> bytes:
    digest = hashlib.sha256(f"{made_of}\n".encode())
    digest.update(content)
    return digest.hexdigest().encode()
