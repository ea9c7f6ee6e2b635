"""Comma-separated values, as all our files and commands write them."""

import csv
import io
from collections.abc import Iterable


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    """Return rows of cells as text, a line each; None is an empty cell."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()
