"""Records that a measured process writes for the process that called it.

asv takes a list of samples from a benchmark and nothing else. Everything else worth keeping
(raw seconds, yardstick readings, fingerprint, notes of the kernel) is written here as one file
of JSON lines into a spool folder, from which they are collected when results are saved.
"""

import hashlib
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path

from deepbench_ops.storage import atomic_write, json_lines

SPOOL_VARIABLE = "DEEPBENCH_SPOOL"

POINT = ("benchmark", "params", "release")
"""Fields of a record that name its point."""


def write(record: dict[str, object]) -> None:
    """Put one record into the spool; do nothing where no records were asked for."""
    spool = os.environ.get(SPOOL_VARIABLE)
    if not spool:
        return
    name = f"{time.time_ns():020d}-{os.getpid()}-{_digest(record)}.jsonl"
    atomic_write.write_text(Path(spool, name), json_lines.as_text([record]))


def earlier(point: Mapping[str, object]) -> dict[str, object]:
    """Return the last record that another process of a point left in the spool; {} without one.

    point: a mapping with the fields POINT.
    """
    spool = os.environ.get(SPOOL_VARIABLE)
    found = sorted(Path(spool).glob(f"*-{_digest(point)}.jsonl")) if spool else []
    return _records(found[-1])[-1] if found else {}


def _digest(point: Mapping[str, object]) -> str:
    """Return twelve characters that stand for a point in the names of its files."""
    fields = json.dumps([point.get(name) for name in POINT])
    return hashlib.sha256(fields.encode()).hexdigest()[:12]


def collect(spool: Path) -> list[dict[str, object]]:
    """Return the records of a spool folder in the order they were written, and empty it."""
    records: list[dict[str, object]] = []
    for path in sorted(spool.glob("*.jsonl")):
        records.extend(_records(path))
        path.unlink()
    return records


def _records(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def rounded(value: float) -> float:
    """Return a value to the four significant digits that are kept on disk."""
    return float(f"{value:.4g}")
