"""Tables of a benchmark in `asv run` and `asv show`: the points there are, not the gaps.

A run of twelve points out of eight hundred would print eight hundred lines of "n/a".
"""

import re
from collections.abc import Callable
from typing import Any

from asv import results

A_TIME = re.compile(r"\d(\.\d+)?(±\S*)?\s?(ns|μs|us|ms|s|m|h)\b")


def install() -> None:
    """Wrap asv's table of a parameterised benchmark, once per process."""
    if not getattr(results._format_benchmark_result, "without_gaps", False):
        results._format_benchmark_result = without_gaps(results._format_benchmark_result)


def without_gaps(table: Callable[..., list[str]]) -> Callable[..., list[str]]:
    """Return a table that leaves out rows without a time, and says how many it left out."""

    def wrapped(*args: Any, **kwargs: Any) -> list[str]:
        lines = table(*args, **kwargs)
        gaps = [line for line in lines if "n/a" in line and not A_TIME.search(line)]
        if not gaps:
            return lines
        kept = [line for line in lines if line not in gaps]
        return [*kept, f"({len(gaps)} rows without a measured value are not shown)"]

    wrapped.without_gaps = True  # type: ignore[attr-defined]
    return wrapped
