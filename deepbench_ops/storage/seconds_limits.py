"""Limits within which a stored number can be the seconds of a call, as in submissions."""

import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

SHORTEST, LONGEST = 1e-9, 86400.0
"""Seconds of one call."""

MOST_CALLS = 10**9
"""Largest number of calls of a sample or slice: more would take over a second at 1 ns each."""

WIDEST = 1e6 * LONGEST
"""Largest bound of an interval that is used: asv's search for steps does not end if the weights of
one series are hundreds of orders of magnitude apart."""

NARROWEST = 1e-18
"""Seconds of the smallest difference between two bounds: asv weighs a point by its inverse."""

ROUNDED = 1e-3
"""asv keeps four or five digits, so that a time may pass a bound that equals it."""


def is_number(value: object) -> bool:
    """Whether a value is a finite number; true and false are none, nor are whole numbers that are
    too large for a float."""
    if type(value) is float:  # nearly all are
        return -math.inf < value < math.inf
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and -sys.float_info.max <= value <= sys.float_info.max
    )


def is_time(value: object) -> bool:
    """Whether a value can be the seconds of one call."""
    return is_number(value) and SHORTEST <= value <= LONGEST  # type: ignore[operator]


def why_not(value: object, stats: object = None, samples: object = None) -> str:
    """Return why a stored value, with its statistics and samples, cannot be right; "" where it can.

    Bounds may be infinite, asv's mark for too few samples, or as good as (`unbounded`).
    """
    if not (isinstance(value, int | float) and is_time(value)):
        return f"{_shown(value)} is no time"
    if samples is not None:
        several = samples if isinstance(samples, list) else [samples]
        odd = [] if all_times(several) else [each for each in several if not is_time(each)]
        if odd or not several:
            return f"its sample {_shown(odd[0] if odd else None)} is no time"
        if not _near(value, min(several), max(several)):
            return f"{_shown(value)} is not among its samples"
    return _no_statistics(value, stats) if stats else ""


def all_times(several: Sequence[Any]) -> bool:
    """Whether all values are times; quick where they are, as in nearly all files."""
    return not several or (
        set(map(type, several)) <= {int, float}
        and min(several) >= SHORTEST
        and max(several) <= LONGEST
        and sum(several) == sum(several)  # neither holds for NaN, which min and max pass over
    )


def _no_statistics(value: Any, stats: object) -> str:
    if not isinstance(stats, Mapping):
        return f"its statistics are {_shown(stats)}"
    if not all(map(_is_figure_or_none, stats.values())):
        odd = next(name for name, figure in stats.items() if not _is_figure_or_none(figure))
        return f"its {odd} is {_shown(stats[odd])}"
    low, high = stats.get("ci_99_a"), stats.get("ci_99_b")
    if low is None or high is None:
        return ""
    if low > high or 0 < high - low < NARROWEST or not _near(value, low, high):
        return f"{_shown(value)} is not in its interval, {_shown(low)} to {_shown(high)}"
    return ""


def _is_figure_or_none(figure: object) -> bool:
    return figure is None or is_number(figure) or figure in (math.inf, -math.inf)


def unbounded(stats: Mapping[str, Any]) -> bool:
    """Whether statistics have an interval with a bound beyond `WIDEST`."""
    return any(abs(stats.get(name) or 0.0) > WIDEST for name in ("ci_99_a", "ci_99_b"))


def _near(value: float, low: float, high: float) -> bool:
    return low - ROUNDED * abs(low) <= value <= high + ROUNDED * abs(high)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
