"""Sizes that come from outside, by an id, a workbook or a log: held to the same bounds."""

import math
import re
from collections.abc import Mapping
from typing import Any

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.problems.families import size_types
from deepbench_ops.problems.problem import Problem
from deepbench_ops.problems.problem_lists import TYPES

_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
"""How sheets and programs write numbers; Python itself takes 1_000 and other digits too."""

LARGEST = 10**12
"""More than any memory holds, and few enough that FLOPs stay finite."""


def size(name: str, given: object, kind: type[Problem] = Problem) -> float:
    """Return a size of that name of a family as a number.

    A field of floats is a share, between 0 and 1; all else is whole, and begins at 1 unless the
    family says otherwise (`Problem.smallest`). Raises DeepbenchError for any other value.
    """
    value = number(given)
    if size_types(kind).get(name) is float:
        if not 0 < value < 1:
            raise DeepbenchError(f"{name} is {str(given)!r}: write a number in (0, 1)")
        return value
    lowest = kind.smallest.get(name, 1)
    if not lowest <= value <= LARGEST or value != int(value):
        raise DeepbenchError(
            f"{name} is {str(given)[:40]!r}: write a whole number from {lowest} to {LARGEST:g}"
        )
    return int(value)


def problem(family: str, sizes: Mapping[str, Any]) -> Problem:
    """Return the problem of these sizes; DeepbenchError where none such can exist."""
    made = TYPES[family](**sizes)
    reason = made.impossible()
    if reason:
        raise DeepbenchError(f"{made.id}: {reason}")
    return made


def number(given: object) -> float:
    """Return a number, also one written as text in plain decimal digits; NaN for anything else."""
    if isinstance(given, bool) or not isinstance(given, int | float | str):
        return math.nan
    if isinstance(given, str) and not _DECIMAL.fullmatch(given.strip()):
        return math.nan
    try:
        return float(given)
    except (ValueError, OverflowError):
        return math.nan
