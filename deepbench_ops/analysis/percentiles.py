"""Percentiles of the seconds of a run's batches, by nearest rank, if there are enough batches.

The 99th percentile of fewer than 100 batches would be the longest one: a single batch, by chance.
"""

from collections.abc import Mapping, Sequence
from typing import Any

PERCENTILES = {"p90_seconds": 90, "p99_seconds": 99}
"""By their names in records."""


def nearest_rank(ordered: Sequence[float], percent: int) -> float:
    """Return the smallest of `ordered` that at least so many per cent of all do not exceed."""
    return ordered[-(-percent * len(ordered) // 100) - 1]  # in whole numbers: 0.07 * 100 > 7


def fewest_batches(percent: int) -> int:
    """Return the least number of values for a percentile: 10 for the 90th, 100 for the 99th.

    With fewer it would be the largest value.
    """
    return -(-100 // (100 - percent))


def percentiles(taken: Sequence[float]) -> dict[str, float | None]:
    """Return those of the seconds that batches took, None where there are too few."""
    ordered = sorted(taken)
    found = {name: nearest_rank(ordered, percent) for name, percent in PERCENTILES.items()}
    return {
        name: found[name] if not why else None for name, why in too_few_reasons(len(taken)).items()
    }


def too_few_reasons(batches: int) -> dict[str, str]:
    """Return why so many batches have no such percentile, "" where they have."""
    return {
        name: "" if batches >= fewest_batches(percent) else f"of {batches} batches"
        for name, percent in PERCENTILES.items()
    }


def with_reasons(run: Mapping[str, Any]) -> dict[str, Any]:
    """Return a run without the percentiles for which it has too few batches, and the reasons.

    Older records have such percentiles: the longest of few batches. The reasons are by name.
    """
    reasons = too_few_reasons(run.get("batches", 0))
    kept = {name: None if why else run.get(name) for name, why in reasons.items()}
    return {**run, **kept, "why_not": {name: why for name, why in reasons.items() if why}}
