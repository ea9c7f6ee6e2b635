"""Student's distribution for whole degrees of freedom, where scipy is not installed."""

import math
from functools import cache


@cache
def quantile(probability: float, freedom: int) -> float:
    """Return t such that a variable of so many degrees of freedom is below t so often.

    `probability` lies between 0.5 and 1, both excluded.
    """
    low, high = 0.0, 1.0
    while cumulative(high, freedom) < probability:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if cumulative(middle, freedom) < probability else (low, middle)
    return (low + high) / 2


def cumulative(t: float, freedom: int) -> float:
    """Return the probability of less than t (Abramowitz and Stegun 26.7.3 and 26.7.4)."""
    angle = math.atan2(t, math.sqrt(freedom))
    sine, squared = math.sin(angle), math.cos(angle) ** 2
    odd = freedom % 2
    term = total = 1.0
    for i in range(2 + odd, freedom - 1, 2):
        term *= (i - 1) / i * squared
        total += term
    if odd:
        share = angle + (sine * math.cos(angle) * total if freedom > 1 else 0.0)
        return 0.5 + share / math.pi
    return 0.5 + sine * total / 2
