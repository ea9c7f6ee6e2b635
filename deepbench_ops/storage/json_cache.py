"""Values that are computed once and stored, as JSON below a checksum of them and their inputs.

Not for measured environments, which lack orjson.
"""

from pathlib import Path
from typing import Any

import orjson

from deepbench_ops.storage import checked_file

LARGEST = 512_000_000
"""Bytes of a cache."""


def read(path: Path, made_of: str = "") -> Any | None:
    """Return the stored value, None where there is none, it was made of something else, or it is
    damaged."""
    content = checked_file.read(path, LARGEST, made_of)
    try:
        return None if content is None else orjson.loads(content)
    except ValueError:
        return None


def write(path: Path, value: Any, made_of: str = "") -> None:
    """Store a value of JSON's types, NaN as None. Raises OSError.

    It does not wait for the disk: a file that a power failure has torn counts as absent.
    """
    checked_file.write(path, orjson.dumps(value), made_of)
