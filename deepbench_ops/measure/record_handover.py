"""Records that a measured process writes for the process that called it.

asv takes a list of samples from a benchmark and nothing else. Everything else worth keeping
(raw seconds, yardstick readings, fingerprint, notes of the kernel) is written here as one file
of JSON lines into a spool folder, from which they are collected when results are saved.
"""

import os
import time
from pathlib import Path

from deepbench_ops.storage import atomic_write, json_lines

SPOOL_VARIABLE = "DEEPBENCH_SPOOL"


def write(record: dict[str, object]) -> None:
    """Put one record into the spool; do nothing where no records were asked for."""
    spool = os.environ.get(SPOOL_VARIABLE)
    if not spool:
        return
    name = f"{time.time_ns():020d}-{os.getpid()}.jsonl"
    # Its reader waits for it, and keeps it: it need not outlast a power failure.
    atomic_write.write_text(Path(spool, name), json_lines.as_text([record]), durable=False)


def collect(spool: Path) -> list[dict[str, object]]:
    """Return the records of a spool folder in the order they were written, and empty it."""
    records: list[dict[str, object]] = []
    for path in sorted(spool.glob("*.jsonl")):
        records.extend(json_lines.parsed(path.read_text()))
        path.unlink()
    return records


def rounded(value: float) -> float:
    """Return a value to the four significant digits that are kept on disk."""
    return float(f"{value:.4g}")
