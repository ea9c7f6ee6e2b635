"""Tables and summaries of the parts of `history_proof.py`."""

import math
import statistics
from collections.abc import Mapping, Sequence

from tabulate import tabulate

from deepbench_ops.measure.kernel_identity import KernelIdentity


def named(task: KernelIdentity) -> dict[str, str]:
    """Return the first columns of a kernel's row."""
    return {"kernel": f"{task.family} {task.operation} {task.problem}"}


def median(values: Sequence[float]) -> float:
    """Return the median; NaN if there are no values."""
    return statistics.median(values) if values else math.nan


def share_of(number: int, whole: int) -> str:
    """Return a number of all, and its share as a percentage."""
    return f"{number} of {whole}" + (f" ({number / whole:.1%})" if whole else "")


def show(rows: Sequence[Mapping[str, str]]) -> None:
    """Print a table in Markdown; nothing if there are no rows."""
    if rows:
        print(tabulate(rows, headers="keys", tablefmt="github", disable_numparse=True), end="\n\n")


def say_result(*lines: str) -> None:
    """Print the summary of a part."""
    print("\n".join(lines), flush=True)
