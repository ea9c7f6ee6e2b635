"""Number of calls in a slice, the same rule for kernels, yardsticks and ensembles."""

MOST_CALLS = 1_000_000
"""A slice of an empty kernel has no more."""


def calls_per_slice(slice_seconds: float, call_seconds: float) -> int:
    """Return how many calls take about `slice_seconds`, at least one.

    call_seconds: of one call, above 0.
    """
    return max(1, min(MOST_CALLS, round(slice_seconds / call_seconds)))
