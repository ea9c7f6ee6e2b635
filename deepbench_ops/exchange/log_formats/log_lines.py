"""Shared parts of the readers: the place of a line, and sizes and times from its text."""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange.workbooks.workbook_timings import Timing, Unread
from deepbench_ops.problems import size_checks
from deepbench_ops.problems.family_list import size_types
from deepbench_ops.problems.problem import Problem
from deepbench_ops.problems.problem_lists import TYPES
from deepbench_ops.storage import seconds_limits

FLOAT_BYTES = 4

FASTEST = 1e17
"""FLOP/s that no device computes: several times those of the fastest at four bits."""

FLAGS = ({"0": False, "1": True}, {"n": False, "t": True}, {"false": False, "true": True})
"""Spellings of a flag; a line has one of them."""


@dataclass(frozen=True)
class OutputLine:
    """A line of a program's output."""

    number: int
    sheet: str = ""

    def __str__(self) -> str:
        return f"line {self.number}"


TimingOrUnread = Timing | Unread
Reader = Callable[[Sequence[str]], Iterator[TimingOrUnread]]


def is_row(cells: Sequence[str]) -> bool:
    """Whether most cells are numbers, as in a row of a table."""
    numbers = sum(cell.lstrip("-")[:1].isdigit() for cell in cells)
    return 2 * numbers > len(cells)


def number(text: str) -> int:
    """Return a whole number, 0 for any other text and for more digits than a size has."""
    return int(text) if re.fullmatch(r"[0-9]{1,15}", text) else 0


def problem_of(place: OutputLine, family: str, given: Mapping[str, str | bool]) -> Problem:
    """Return the problem of these sizes. Raises DeepbenchError naming the line for wrong ones."""
    try:
        kind = TYPES[family]
        _demand_one_spelling({key: text for key, text in given.items() if _is_flag(kind, key)})
        return size_checks.problem(
            family, {key: _size(kind, key, text) for key, text in given.items()}
        )
    except DeepbenchError as wrong:
        raise DeepbenchError(f"{place}: {wrong}") from None


def timing_of(
    place: OutputLine,
    problem: Problem,
    operation: str,
    precision: str,
    text: str,
    unit: str,
    ranks: int | None = None,
) -> TimingOrUnread:
    """Return the timing that a text in units of `unit` seconds gives, unread where it is 0.

    Programs print 0 for a pass that they left out, and for one too short for their digits.

    Raises DeepbenchError for text that is no time, and for a time that no device could take.
    """
    plain = math.isfinite(size_checks.number(text))
    seconds = float(Decimal(text.strip()) * Decimal(unit)) if plain else math.nan
    if seconds == 0:
        return Unread(place, text, "is 0: not timed, or too short for the program's digits")
    if not seconds_limits.is_time(seconds):
        raise DeepbenchError(
            f"{place}: a time is {text!r}: a finite number above 0, of 1 ns to 1 day, is needed"
        )
    rate = problem.flops_of(operation) / seconds
    if rate > FASTEST:
        what = f"{problem.id} in {seconds:g} s would be {rate:.3g} FLOP/s"
        raise DeepbenchError(f"{place}: {what}: a size is wrong, or the unit another")
    return Timing(place, problem, operation, precision, seconds, ranks)


def all_reduce_timing(
    place: OutputLine, elements: int, ranks: int, text: str, unit: str
) -> TimingOrUnread:
    """Return the timing of a sum of so many floats over ranks."""
    problem = problem_of(place, "all_reduce", {"elements": str(elements)})
    return timing_of(place, problem, "sum", "float32", text, unit, ranks)


def _size(kind: type[Problem], name: str, text: str | bool) -> Any:
    if size_types(kind)[name] is str or isinstance(text, bool):
        return text
    if not _is_flag(kind, name):
        return size_checks.size(name, text, kind)
    return next(spelt[text.lower()] for spelt in FLAGS if text.lower() in spelt)


def _is_flag(kind: type[Problem], name: str) -> bool:
    return size_types(kind)[name] is bool


def _demand_one_spelling(flags: Mapping[str, str | bool]) -> None:
    """Raise DeepbenchError for flags that are none, or that are spelled in different ways."""
    texts = {name: text.lower() for name, text in flags.items() if isinstance(text, str)}
    for name, text in texts.items():
        if not any(text in spelt for spelt in FLAGS):
            raise DeepbenchError(f"{name} is {flags[name]!r}")
    if not any(spelt.keys() >= set(texts.values()) for spelt in FLAGS):
        listed = " and ".join(f"{name} is {flags[name]!r}" for name in texts)
        raise DeepbenchError(f"{listed}, which are different spellings")
