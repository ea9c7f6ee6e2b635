"""Ratios and the ends of their intervals as text."""

DIGITS = range(3, 7)
"""Fewest significant digits, up to the most."""


def ratio_texts(*ratios: float) -> list[str]:
    """Return ratios in three digits, or in as many as tell them from each other and from 1."""
    texts: list[str] = []
    for digits in DIGITS:
        texts = [f"{ratio:.{digits}g}" for ratio in ratios]
        if len({1.0, *ratios}) == len({"1", *texts}):
            break
    return texts


def interval_text(low: float, high: float) -> str:
    """Return an interval of a ratio, such as "1.004 .. 1.012"."""
    return " .. ".join(ratio_texts(low, high))
