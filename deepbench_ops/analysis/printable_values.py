"""Values of an answer to SQL as numbers, texts, lists and objects, for tables, CSV and JSON."""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import count
from typing import Any

import duckdb
import pyarrow as pa

from deepbench_ops.errors import DeepbenchError

UNREADABLE = (ValueError, TypeError, OverflowError, LookupError, pa.ArrowException)
"""Exceptions of values that Python has no object for, such as years after 9999."""

AS_TEXT = re.compile(r"\b(BIT|BIGNUM|VARIANT|INTERVAL|TIME(?! ZONE)|TIME_NS|TIMESTAMP_NS)\b")
"""DuckDB's types with values that Arrow or Python lack, such as the time 24:00:00. DuckDB itself
writes them as text, and so the lists and structs that contain them."""


def printable(rows: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """Return rows in which columns of `AS_TEXT` are text; names of columns may change."""
    texts = [AS_TEXT.search(str(kind)) for kind in rows.types]
    if not any(texts):
        return rows
    places = [f"CAST(#{at} AS VARCHAR)" if text else f"#{at}" for at, text in enumerate(texts, 1)]
    return rows.project(", ".join(places))


def of_column(name: str, column: pa.ChunkedArray) -> list[Any]:
    """Return the values of a column of Arrow. Raises DeepbenchError where one cannot be printed."""
    try:
        return [plain(value) for value in column.to_pylist()]
    except UNREADABLE as wrong:
        reason = " ".join(str(wrong).split())
        raise DeepbenchError(
            f"query: column {name} has values of the type {column.type} that cannot be printed"
            f" ({reason}): write CAST({name} AS VARCHAR)"
        ) from None


def plain(value: Any) -> Any:
    """Return a value of Arrow as JSON has it: decimals as numbers, bytes in hexadecimal, times as
    ISO 8601 writes them, a map as a list of pairs, and all else as text."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case bytes():
            return value.hex()
        case Mapping():
            return {str(name): plain(each) for name, each in value.items()}
        case list() | tuple():
            return [plain(each) for each in value]
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def unique(names: Sequence[str]) -> list[str]:
    """Return the names of columns, each once: a, a_1 for a that comes twice."""
    taken, found = set(names), set[str]()
    made = []
    for name in names:
        own = name
        if name in found:
            own = next(each for n in count(1) if (each := f"{name}_{n}") not in taken)
        taken.add(own)
        found.add(own)
        made.append(own)
    return made
