"""Data files of this project's pages: data/*.js, encoded by `data_encoding`."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from deepbench_ops.pages.data_encoding import script_of
from deepbench_ops.storage import atomic_write

FOLDER = "data"


def machine_key(machine: str) -> str:
    """Name of a machine in addresses and file names; its own name may hold any character."""
    return hashlib.sha1(machine.encode()).hexdigest()[:10]


def write_data(path: Path, content: Any) -> None:
    """Write the data file that a page loads as `path`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    atomic_write.write_text(path.with_name(f"{path.name}.js"), script_of(text), durable=False)


def rounded(value: float, digits: int) -> float:
    """Return `value` rounded to `digits` significant digits."""
    return float(f"{value:.{digits}g}")
