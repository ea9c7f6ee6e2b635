"""Finds result files that cannot be read, which asv skips with a warning and exit status 0.

A format version that asv does not know is as unreadable to it as a torn file.
"""

import json
from pathlib import Path

from asv.benchmarks import Benchmarks
from asv.machine import Machine
from asv.results import Results

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.results import measurements


def broken(results: Path) -> list[str]:
    """Return a line for every file below ``results`` that is not whole, naming the mend."""
    lines = []
    for path in sorted(results.rglob("*.json")):
        if path.name not in VERSIONS and _loads(path):
            continue
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
        except (ValueError, OSError) as error:
            lines.append(f"{path} is not whole ({error}): restore it from git, or remove it")
        else:
            lines += _of_another_version(path, stored)
    for path in sorted(results.rglob(f"*{measurements.SUFFIX}")):
        try:
            measurements.demand_whole(path)
        except DeepbenchError as error:
            lines.append(str(error))
    return lines


def _loads(path: Path) -> bool:
    """Whether asv takes it for a result, which others may have asked it already (`loaded`)."""
    try:
        return bool(Results.load(str(path)))
    except Exception:  # told by who looks at it closer
        return False


VERSIONS = {"machine.json": Machine.api_version, "benchmarks.json": Benchmarks.api_version}
"""What asv reads, by file; all others are results."""


def _of_another_version(path: Path, stored: object) -> list[str]:
    """Return a line where the format of a file is not asv's."""
    known = VERSIONS.get(path.name, Results.api_version)
    found = stored.get("version") if isinstance(stored, dict) else None
    if found == known:
        return []
    return [
        f"{path} has format version {found!r}, and asv reads {known}: restore it from git, or"
        " remove it"
    ]
