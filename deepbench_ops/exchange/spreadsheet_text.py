"""Text that no spreadsheet program takes for a formula.

Names and facts come from other people's machines; a cell that begins with "=" would be computed by
the program that opens the file.
"""

from collections.abc import Iterable

from deepbench_ops.storage.csv_text import csv_text

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""First characters of a text that spreadsheet programs compute."""

QUOTE = "'"


def guarded(value: object) -> object:
    """Return a cell of a CSV file: text that would be computed gets a quote before it. Numbers,
    also those written as text, stay."""
    if not isinstance(value, str) or not value.lstrip(QUOTE).startswith(FORMULA) or _number(value):
        return value
    return QUOTE + value


def guarded_csv(rows: Iterable[Iterable[object]]) -> str:
    """Return rows of cells as comma-separated values, guarded."""
    return csv_text([guarded(cell) for cell in row] for row in rows)


def bare(text: str) -> str:
    """Return a text without the quote that `guarded` has put before it."""
    quoted = text.startswith(QUOTE) and text.lstrip(QUOTE).startswith(FORMULA)
    return text[len(QUOTE) :] if quoted else text


def _number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
