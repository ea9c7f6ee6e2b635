"""Tables of a benchmark in `asv run` and `asv show`, without rows that hold no time.

A run of twelve points out of eight hundred would print eight hundred lines of "n/a".
"""

import re
from collections.abc import Callable
from typing import Any

from asv import results

from deepbench_ops.asv_adapter.patch_installation import Patch

A_TIME = re.compile(r"\d(\.\d+)?(±\S*)?\s?(ns|μs|us|ms|s|m|h)\b")


def without_gaps(table: Callable[..., list[str]]) -> Callable[..., list[str]]:
    """Wrap asv's table: rows without a time are left out and counted below it."""

    def wrapped(*args: Any, **kwargs: Any) -> list[str]:
        lines = table(*args, **kwargs)
        gaps = [line for line in lines if "n/a" in line and not A_TIME.search(line)]
        if not gaps:
            return lines
        kept = [line for line in lines if line not in gaps]
        return [*kept, f"({len(gaps)} rows without a measured value are not shown)"]

    return wrapped


PATCHES = (
    Patch(
        results,
        "_format_benchmark_result",
        without_gaps,
        "asv prints a line of n/a for every parameter that was not measured",
    ),
)
