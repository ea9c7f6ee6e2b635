"""Data files of this project's pages: data/*.js, encoded by `data_encoding`."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import orjson

from deepbench_ops.pages.data_encoding import script_of
from deepbench_ops.storage import atomic_write

FOLDER = "data"

FORMATS = [f".{digits}g" for digits in range(18)]
"""Formats of numbers, by significant digits; a nested one would be composed for each number."""


def machine_key(machine: str) -> str:
    """Name of a machine in addresses and file names; its own name may hold any character."""
    return hashlib.sha1(machine.encode()).hexdigest()[:10]


def write_data(path: Path, content: Any) -> None:
    """Write the data file that a page loads as `path`."""
    write_script(path.with_name(f"{path.name}.js"), data_script(content))


def data_script(content: Any) -> str:
    """Return the text of a data file. NaN and infinity are null in it, as a missing number is.

    Raises TypeError for a value of a type that JSON lacks.
    """
    return script_of(orjson.dumps(content, _listed, orjson.OPT_NON_STR_KEYS).decode())


def _listed(value: object) -> list[Any]:
    """Return a named tuple as a list; orjson knows plain ones alone."""
    if isinstance(value, tuple):
        return list(value)
    raise TypeError(f"{type(value).__name__} is no type of JSON")


def write_script(path: Path, script: str) -> None:
    """Write the text of a data file to `path`."""
    atomic_write.write_text(path, script, durable=False)


def rounded_if_known(value: float | None, digits: int) -> float | None:
    """Return `value` rounded to `digits` significant digits; None for None."""
    return None if value is None else rounded(value, digits)


def rounded(value: float, digits: int) -> float:
    """Return `value` rounded to `digits` significant digits."""
    return float(format(value, FORMATS[digits]))
