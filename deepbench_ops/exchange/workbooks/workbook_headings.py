"""Titles and column headers of DeepBench's sheets, in the spelling of any revision.

A section begins with its title in the first column; the row that names the sizes is the same one
or the next. Columns go by their headers: their order changed over the years.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from deepbench_ops.problems.problem import Problem, Sheets, Table
from deepbench_ops.problems.problem_lists import TYPES, size_names


def _sheets(kind: type[Problem]) -> Sheets:
    """Return the tables of a family: its own, or one whose headers are the names of its sizes."""
    if kind.sheets is not None:
        return kind.sheets
    words = {name: name.replace("_", " ") for name in (*size_names(kind.family), *kind.operations)}
    title = kind.family.replace("_", " ")
    return Sheets(
        tables=(Table(title.title(), title),),
        sizes={words[name]: name for name in size_names(kind.family)},
        times={f"{words[name]} time": name for name in kind.operations},
    )


SHEETS = {name: _sheets(kind) for name, kind in TYPES.items() if not kind.whole_models}
"""Tables in workbooks by family; whole models have none."""

SIZES = {name: sheets.sizes for name, sheets in SHEETS.items()}
TIMES = {name: sheets.times for name, sheets in SHEETS.items()}
"""Sizes and times by header, without the unit, by family."""

DERIVED = ("total time", "std dev all reduce time")
"""Columns of seconds that are computed from other columns."""

UNITS = {"sec": 1.0, "msec": 1e-3, "usec": 1e-6}
RATES = {"gigaflops": 1e9, "teraflops": 1e12, "gigabytes/sec": 1e9}
RANKS = ("# chips / accelerator cards", "# nodes")

_WORDS_OF_RATES = {
    "": "forward",
    "sparse": "forward",
    "fwd": "forward",
    "bwd": "backward",
    "bwd inputs": "backward_data",
    "bwd params": "backward_weights",
    "bwd parms": "backward_weights",
    "bwd weights": "backward_weights",
}


@dataclass(frozen=True)
class Section:
    """The family that a table of a sheet is of, and the sizes that all its rows share."""

    family: str
    fixed: dict[str, Any]


@dataclass
class HeadingColumns:
    """Columns of a section, by their content.

    sizes: by the field of the problem. times: by operation. units: seconds that a time's number
    counts, None where its header names no unit. rates: by operation, with the number of FLOP/s
    (of all-reduce bytes/s) that one stands for.
    """

    sizes: dict[str, int] = field(default_factory=dict)
    times: dict[str, int] = field(default_factory=dict)
    units: dict[str, float | None] = field(default_factory=dict)
    rates: dict[str, tuple[int, float]] = field(default_factory=dict)
    ranks: int | None = None


def section(title: object) -> Section | None:
    """Return the section that begins with a title, None for any other text."""
    words = _plain(title)
    found = [
        (len(table.start), Section(family, dict(table.fixed)))
        for family, sheets in SHEETS.items()
        for table in sheets.tables
        if words.startswith(table.start)
    ]
    return max(found, key=lambda each: each[0])[1] if found else None


def columns(of: Section, cells: Sequence[object]) -> HeadingColumns:
    """Return the columns that a row of header cells names."""
    found = HeadingColumns()
    for place, cell in enumerate(cells):
        words, unit = words_and_unit(cell)
        if words in SIZES[of.family]:
            found.sizes.setdefault(SIZES[of.family][words], place)
        elif words in TIMES[of.family]:
            operation = TIMES[of.family][words]
            found.times.setdefault(operation, place)
            found.units.setdefault(operation, unit)
        elif TYPES[of.family].ranks and words in RANKS:
            found.ranks = place
        elif (rate := _rate(of.family, words)) is not None:
            operation, scale = rate
            found.rates.setdefault(operation, (place, scale))
    if "backward_data" in found.times and "backward" in found.rates:
        found.rates["backward_data"] = found.rates.pop("backward")
    return found


def required(of: Section) -> set[str]:
    """Return the sizes that a table of that section must have."""
    return set(size_names(of.family)) - set(of.fixed) - {"repeats"}


def lacking(of: Section, found: HeadingColumns) -> list[str]:
    """Return the headers that a table of that section needs and lacks."""
    words = {name: text for text, name in reversed(SIZES[of.family].items())}
    missing = sorted(words[name] for name in required(of) - set(found.sizes))
    if TYPES[of.family].ranks and found.ranks is None:
        missing.append(RANKS[0])
    return missing if found.times else [*missing, next(iter(TIMES[of.family]))]


def is_unread(found: HeadingColumns, place: int, cell: object) -> bool:
    """Whether the times of a header are not read: of an unknown pass, or its second column."""
    words, unit = words_and_unit(cell)
    if place in (*found.times.values(), *found.sizes.values()) or words in DERIVED:
        return False
    return unit is not None or re.search(r"time\b", words) is not None


def words_and_unit(cell: object) -> tuple[str, float | None]:
    """Return the words of a header outside brackets, and its unit of time."""
    words = _plain(cell)
    if "(" not in words:
        return words, None
    inside = re.findall(r"\(([^)]*)\)", words)
    unit = next((UNITS[text] for text in inside if text in UNITS), None)
    return " ".join(re.sub(r"\([^)]*\)", " ", words).split()), unit


def _rate(family: str, words: str) -> tuple[str, float] | None:
    """Return operation and scale of a column of FLOP/s, or for all-reduce of bytes/s."""
    for name, scale in RATES.items():
        if name not in words:
            continue
        operation = _WORDS_OF_RATES.get(words.replace(name, " ").strip().replace("  ", " "))
        if name == "gigabytes/sec":
            operation = "sum"
        if operation is not None:
            return operation, scale
    return None


def _plain(cell: object) -> str:
    """Return a cell's text in lower case, with single blanks; "" for a cell without text."""
    return " ".join(cell.lower().split()) if isinstance(cell, str) else ""
