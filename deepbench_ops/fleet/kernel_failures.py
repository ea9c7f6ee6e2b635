"""The kernels of a job that failed, from its results, and the reason, from the lines of asv."""

import re
from collections.abc import Collection, Sequence
from pathlib import Path

from deepbench_ops.asv_adapter import private_result_fields, result_files

Kernel = tuple[str, tuple[str, ...]]
"""Name of a benchmark, and the parameters as asv writes them."""

TRACEBACK = "Traceback (most recent call last):"
FAILED_ROW = re.compile(r"^(?:\[[ \d.]+%\] )?[\u00b7 ]*(\S+ +(?:\d+/\d+ )?failed)$")
"""asv's row of a benchmark that failed, with its progress and bullets before it."""


def failed_kernels(machine: Path) -> list[Kernel]:
    """Return the kernels that failed, of each environment, in a job's folder of a machine's
    results. Raises DeepbenchError for a damaged file."""
    return [
        kernel
        for path in result_files.paths(machine)
        for kernel in private_result_fields.failed(result_files.read(path))
    ]


def pattern(kernels: Collection[Kernel]) -> str:
    """Return the regular expression that picks these kernels, for `asv run --bench`."""
    keys: dict[str, dict[str, None]] = {}
    for name, key in kernels:
        keys.setdefault(name, {})[re.escape(", ".join(key))] = None
    names = [rf"{re.escape(name)}\((?:{'|'.join(found)})\)" for name, found in keys.items()]
    return f"^(?:{'|'.join(names)})$"


def first_reason(lines: Sequence[str]) -> str:
    """Return the first reason in the indented lines that asv printed, "" for none.

    That is the exception of the first kernel that raised one, else the row of the first that
    failed.
    """
    raised = (_exception(lines[at:]) for at, line in enumerate(lines) if TRACEBACK in line)
    rows = (row[1] for line in lines if (row := FAILED_ROW.match(line)))
    return " ".join((next(filter(None, raised), "") or next(rows, "")).split())


def _exception(lines: Sequence[str]) -> str:
    """Return the exception below a traceback, whose lines are indented more than its first."""
    depth = lines[0].index(TRACEBACK)
    return next((line for line in lines[1:] if not line[: depth + 1].isspace()), "")
