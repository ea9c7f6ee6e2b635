"""Checks of sizes from an id, a workbook or a log, with the same bounds for all."""

import math
import re
from collections.abc import Mapping
from typing import Any

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.problems.family_list import size_types
from deepbench_ops.problems.problem import Problem
from deepbench_ops.problems.problem_lists import TYPES

_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
"""Form of numbers in sheets and programs; Python's own would also allow 1_000 and other digits."""

LARGEST = 10**12
"""Largest size: no memory is large enough for more, and FLOPs stay finite."""


def size(name: str, given: object, kind: type[Problem] = Problem) -> float:
    """Return the value of the size `name` of a family as a number.

    A size of type float is a share between 0 and 1. Any other size is a whole number of at least 1,
    or of the family's `Problem.smallest`. Raises DeepbenchError for any other value.
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
    """Return the problem with these sizes; raise DeepbenchError if it cannot exist."""
    made = TYPES[family](**sizes)
    reason = made.impossible() or _changed_share(made)
    if reason:
        raise DeepbenchError(f"{made.id}: {reason}")
    return made


def _changed_share(made: Problem) -> str:
    """Reason for a share that the problem's id does not give back: others would have the same id,
    or it would be none; "" if there is no such share."""
    shares = [name for name, kind in size_types(type(made)).items() if kind is float]
    found = re.fullmatch(made.id_pattern, made.id) if shares else None
    for name in shares:
        value = getattr(made, name)
        if found is None:
            return f"{name} {value!r} is too close to 0 or 1: write one from 0.0001 to 0.999999"
        if float(found[name]) != value:
            return f"{name} {value!r} has more digits than its id: write {found[name]}"
    return ""


def number(given: object) -> float:
    """Return a number, or a text in plain decimal digits as a number; NaN for anything else."""
    if isinstance(given, bool) or not isinstance(given, int | float | str):
        return math.nan
    if isinstance(given, str) and not _DECIMAL.fullmatch(given.strip()):
        return math.nan
    try:
        return float(given)
    except (ValueError, OverflowError):
        return math.nan
