"""Finds result files that cannot be read, which asv skips with a warning and exit status 0."""

import json
from pathlib import Path

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.results import measurements


def broken(results: Path) -> list[str]:
    """Return a line for every file below ``results`` that is not whole, naming the mend."""
    lines = []
    for path in sorted(results.rglob("*.json")):
        try:
            json.loads(path.read_text(encoding="utf-8"))
        except (ValueError, OSError) as error:
            lines.append(f"{path} is not whole ({error}): restore it from git, or remove it")
    for path in sorted(results.rglob(f"*{measurements.SUFFIX}")):
        try:
            measurements.load(path)
        except DeepbenchError as error:
            lines.append(str(error))
    return lines
