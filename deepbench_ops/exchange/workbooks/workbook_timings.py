"""From cells to timings: each time of a workbook with its problem, pass and precision.

Nothing is guessed and nothing dropped: a cell in a column of times is a `Timing`, or `Unread`
with the reason.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Any, Protocol

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange.workbooks import workbook_headings
from deepbench_ops.exchange.workbooks.workbook_headings import HeadingColumns, Section
from deepbench_ops.exchange.workbooks.xlsx_reader import CellAddress, Sheet
from deepbench_ops.problems import size_checks
from deepbench_ops.problems.family_list import size_types
from deepbench_ops.problems.precision import ALL_PRECISIONS, MIXED, PRECISIONS
from deepbench_ops.problems.problem import Problem
from deepbench_ops.problems.problem_lists import TYPES
from deepbench_ops.storage import seconds_limits

SPECS = "Specs"
TABLE = "Table"
"""The sheet of an exported workbook that holds its times as `export_table_writer` writes them."""

SET = "Set"
"""The spec by which an export says which published set it holds."""

TRUTHS = {"n": False, "t": True, "false": False, "true": True}

ABSENT = ("n/a", "n/a*", "not supported", "not available", "nan", "-", "#value!", "#n/a", "#div/0!")
"""Texts by which the sheets say that there is no time; any other text there is a mistake."""

AGREEMENT = 0.02
"""Largest distance of the rate that a sheet prints from the one that its time gives."""


class Place(Protocol):
    """Place of a cell or a line in a file; its text names it in messages."""

    @property
    def sheet(self) -> str:
        """Name of the sheet."""


@dataclass(frozen=True)
class Timing:
    """One published time.

    problem: as the sheet prints it. ranks: of an all-reduce, else None. rate: FLOP/s, of an
    all-reduce bytes/s, as the sheet prints it next to the time, None where it prints none.
    in_step: whether it stands in its own row, not in a column that was pasted out of step.
    """

    place: Place
    problem: Problem
    operation: str
    precision: str
    seconds: float
    ranks: int | None = None
    rate: float | None = None
    in_step: bool = True

    @property
    def agrees(self) -> bool:
        """Whether the printed rate agrees with size and time, by the sheets' own formulas."""
        if self.rate is None:
            return True
        return math.isclose(self.rate, _work(self) / self.seconds, rel_tol=AGREEMENT)


@dataclass(frozen=True)
class Unread:
    """A cell that should hold a time and gives none, or a header whose times belong to no known
    pass."""

    place: Place
    text: str
    reason: str


def read(sheets: Iterable[Sheet]) -> tuple[list[Timing], list[Unread]]:
    """Return the timings of all sheets, and the unreadable cells.

    Raises DeepbenchError for a time that is negative or text of no known meaning, a size that is
    none, a table that lacks a header, one whose times have no unit, and rows of numbers without
    a table.
    """
    timings: list[Timing] = []
    unread: list[Unread] = []
    for sheet in sheets:
        if sheet.name not in (SPECS, TABLE):
            for found in _read_sheet(sheet):
                (timings if isinstance(found, Timing) else unread).append(found)  # type: ignore[arg-type]
    return timings, unread


def specs(sheets: Iterable[Sheet]) -> dict[str, str]:
    """Return facts of the machine and its libraries from the `Specs` sheet, {} without one."""
    for sheet in sheets:
        if sheet.name == SPECS:
            pairs = ([_text(cell) for cell in row[:2]] for row in sheet.rows if len(row) > 1)
            return {name: value for name, value in pairs if name and value}
    return {}


def _read_sheet(sheet: Sheet) -> Iterator[Timing | Unread]:
    titles = [workbook_headings.section(_at(cells, 0)) for cells in sheet.rows]
    starts = [row for row, section in enumerate(titles) if section is not None]
    yield from _outside(sheet, starts[0] if starts else None)
    unit = _unit_of(sheet)
    for start, end in pairwise([*starts, len(sheet.rows)]):
        section = titles[start]
        assert section is not None
        header, columns = _headers(sheet, section, start, end)
        for column, cell in enumerate(sheet.rows[header]):
            if workbook_headings.is_unread(columns, column, cell):
                yield Unread(sheet.place(header, column), _text(cell), "names no known pass")
        precision = precision_of(sheet, section.family)
        rows = range(header + 1, end)
        pasted = _out_of_step(sheet, rows, columns)
        for row in rows:
            yield from _read_row(sheet, row, section, columns, precision, unit, pasted)


def _outside(sheet: Sheet, first: int | None) -> Iterator[Unread]:
    """Yield the headers of times and the rows of numbers above the first table."""
    if first is None:
        yield from _without_table(sheet)
    for row, cells in enumerate(sheet.rows[:first] if first is not None else ()):
        named = [
            i
            for i, cell in enumerate(cells)
            if workbook_headings.words_and_unit(cell)[1] is not None
        ]
        for column in [*named, *_numbers(cells)[:1]]:
            yield Unread(sheet.place(row, column), _text(cells[column]), "stands above all tables")


def _without_table(sheet: Sheet) -> Iterator[Unread]:
    """Yield the first cell of a sheet without a table, and each row with a number in it.

    Raises DeepbenchError for a row of several numbers: it is of a table that lacks its title.
    """
    began = False
    for row, cells in enumerate(sheet.rows):
        numbers = _numbers(cells)
        if len(numbers) > 1:
            raise DeepbenchError(
                f"{sheet.place(row, numbers[0])}: a row of numbers in a sheet without a table:"
                f" begin it with a title, such as Convolution, and headers, or call it {SPECS}"
            )
        filled = [column for column, cell in enumerate(cells) if not _empty(cell)]
        if filled and not began:
            place = sheet.place(row, filled[0])
            yield Unread(place, _text(cells[filled[0]]), "begins a sheet without a table")
        elif numbers:
            place = sheet.place(row, numbers[0])
            yield Unread(place, _text(cells[numbers[0]]), "stands in a sheet without a table")
        began = began or bool(filled)


def _numbers(cells: Sequence[object]) -> list[int]:
    """Return the columns of a row that hold numbers."""
    return [column for column, cell in enumerate(cells) if _number(cell) is not None]


def _headers(sheet: Sheet, section: Section, start: int, end: int) -> tuple[int, HeadingColumns]:
    """Return the headers of the table whose title is in a row, and where they are.

    They are that row or the next that is not empty. Raises DeepbenchError where one is lacking.
    """
    filled = [row for row in range(start, end) if not all(map(_empty, sheet.rows[row]))][:2]
    found = [(row, workbook_headings.columns(section, sheet.rows[row])) for row in filled]
    row, columns = min(found, key=lambda each: len(workbook_headings.lacking(section, each[1])))
    missing = workbook_headings.lacking(section, columns)
    if missing:
        title = _text(sheet.rows[start][0])
        raise DeepbenchError(f"{sheet.place(start, 0)}: {title} has no column {', '.join(missing)}")
    return row, columns


def _out_of_step(sheet: Sheet, rows: range, columns: HeadingColumns) -> dict[str, int]:
    """Return the row from which a table's times stand in other kernels' rows, by operation.

    A column that is pasted without the blank rows between its kernels leaves times in rows without
    sizes, and at the end of the table as many kernels without a time: nothing else has left both.
    """
    found = {}
    blank = {row for row in rows if all(map(_empty, _sizes(sheet, row, columns).values()))}
    for operation, column in columns.times.items():
        timed = [row for row in rows if _number(_at(sheet.rows[row], column)) is not None]
        strays = [row for row in timed if row in blank]
        left = [row for row in rows if timed and row > timed[-1] and row not in blank]
        empty = all(_empty(_at(sheet.rows[row], column)) for row in left)
        if strays and empty and len(strays) == len(left):
            found[operation] = strays[0]
    return found


def _sizes(sheet: Sheet, row: int, columns: HeadingColumns) -> dict[str, object]:
    return {name: _at(sheet.rows[row], column) for name, column in columns.sizes.items()}


def _read_row(
    sheet: Sheet,
    row: int,
    section: Section,
    columns: HeadingColumns,
    precision: str,
    unit: float | None,
    pasted: Mapping[str, int],
) -> Iterator[Timing | Unread]:
    cells = sheet.rows[row]
    given = _sizes(sheet, row, columns)
    times = {name: _at(cells, column) for name, column in columns.times.items()}
    lacking = sorted(name for name, size in given.items() if _empty(size))
    if lacking and all(_empty(time) for time in times.values()):
        return  # no kernel, but text next to the table
    for operation, time in times.items():
        place = sheet.place(row, columns.times[operation])
        if _absent(time):
            reason = "is empty" if _empty(time) else "says that there is none"
            yield Unread(place, _text(time), reason)
        elif lacking:
            missing = "all sizes" if len(lacking) == len(given) else ", ".join(lacking)
            yield Unread(place, _text(time), f"its row lacks {missing}")
        else:
            yield Timing(
                place=place,
                problem=_problem(sheet, row, section, columns, given),
                operation=operation,
                precision=precision,
                seconds=_seconds(place, time, columns.units[operation] or unit),
                ranks=None if columns.ranks is None else _ranks(sheet, row, columns.ranks),
                rate=_rate(cells, columns, operation),
                in_step=row < pasted.get(operation, len(sheet.rows)),
            )


def precision_of(sheet: Sheet, family: str) -> str:
    """Return the precision of a family's kernels, from the first rows of a sheet and its name.

    The sheets say it in words: "Float"; "16 bit inputs, 32 bit multiplication, 32 bit addition";
    "GEMM, Conv: Int8 multiplication, 32 bit accumulation", with "Sparse Ops, RNN: single
    precision" below; on devices "Int8 inputs 32 bit math", which is of all families but
    convolutions where the sheet says "Convolution results are still in float". A sheet
    called FP16 that says Float was made from the other's template. Our own exports name bfloat16
    and tf32 as well, and precisions that DeepBench lacks by their names alone.
    """
    words = " ".join(_text(cell) for row in sheet.rows[:2] for cell in row[:8]).lower().strip()
    stated = words if words.startswith("precision") else ""
    for name in ALL_PRECISIONS:
        if stated == f"precision {name}":
            return name
    for name in PRECISIONS:
        if name in stated and name in ("bfloat16", "tf32"):
            return name
    if "int8" in stated:
        return "int8" if _in_int8(stated, family) else "float32"
    if "32 bit inputs, 16 bit multiplication" in stated:
        return MIXED
    if "16 bit inputs" in stated or re.search(r"\bfp16\b", sheet.name.lower()):
        return "float16"
    return "float32"


def _in_int8(stated: str, family: str) -> bool:
    """Whether a sheet's words make a family int8: the families named before it, else all."""
    named = re.fullmatch(r"precision ([a-z, ]+): int8 .*", stated)
    if named:
        return family in named[1].split(", ")
    return not (family == "conv" and "convolution results are still in float" in stated)


def _unit_of(sheet: Sheet) -> float | None:
    """Return the unit that all headers of a sheet agree on, for those that name none."""
    units = set()
    for cells in sheet.rows:
        for cell in cells:
            words, unit = workbook_headings.words_and_unit(cell)
            if unit is not None and words:
                units.add(unit)
    return units.pop() if len(units) == 1 else None


def _problem(
    sheet: Sheet, row: int, section: Section, columns: HeadingColumns, given: Mapping[str, Any]
) -> Problem:
    values: dict[str, Any] = dict(section.fixed)
    kind = TYPES[section.family]
    for name, cell in given.items():
        place = sheet.place(row, columns.sizes[name])
        wanted = size_types(kind)[name]
        if wanted is str:
            values[name] = _text(cell)
        else:
            values[name] = _truth(place, cell) if wanted is bool else _size(place, name, cell, kind)
    try:
        return size_checks.problem(section.family, values)
    except DeepbenchError as wrong:
        raise DeepbenchError(f"{sheet.place(row, min(columns.sizes.values()))}: {wrong}") from None


def _seconds(place: CellAddress, cell: object, unit: float | None) -> float:
    if unit is None:
        raise DeepbenchError(f"{place}: its header names no unit: write (msec), (usec) or (sec)")
    number = _number(cell)
    if number is None or number <= 0:
        raise DeepbenchError(
            f"{place}: a time is {_text(cell)!r}: write a number above 0, or N/A if there is none"
        )
    # In decimal, so that 0.057 ms is 5.7e-05 s to the last digit; text has digits that floats lack.
    digits = cell if isinstance(cell, str) else repr(number)
    seconds = float(Decimal(digits.strip()) * Decimal(repr(unit)))
    if not seconds_limits.is_time(seconds):
        raise DeepbenchError(f"{place}: {seconds:g} s is no time: it is below 1 ns or above 1 day")
    return seconds


def _rate(cells: Sequence[object], columns: HeadingColumns, operation: str) -> float | None:
    if operation not in columns.rates:
        return None
    column, scale = columns.rates[operation]
    number = _number(_at(cells, column))
    return number * scale if number else None


def _work(timing: Timing) -> float:
    """Return the FLOPs or bytes that the sheets divide by the time.

    DeepBench's sheets count those of the forward pass for each backward one.
    """
    problem = timing.problem
    if timing.ranks is not None:
        return problem.bytes(timing.precision) * timing.ranks
    if timing.problem.family == "sparse_gemm" and timing.operation == "forward":
        return float(problem.flops_as_published)  # type: ignore[attr-defined]
    of_forward = problem.sheets is not None and "backward" in timing.operation
    return problem.flops_of("forward" if of_forward else timing.operation)


def _ranks(sheet: Sheet, row: int, column: int) -> int:
    return int(_size(sheet.place(row, column), "ranks", _at(sheet.rows[row], column)))


def _size(place: CellAddress, name: str, cell: object, kind: type[Problem] = Problem) -> float:
    try:
        return size_checks.size(name, cell, kind)
    except DeepbenchError as wrong:
        raise DeepbenchError(f"{place}: {wrong}") from None


def _truth(place: CellAddress, cell: object) -> bool:
    if isinstance(cell, bool):
        return cell
    if _text(cell).lower() not in TRUTHS:
        raise DeepbenchError(f"{place}: a transpose is {_text(cell)!r}: write N or T")
    return TRUTHS[_text(cell).lower()]


def _number(cell: object) -> float | None:
    """Return a finite number, also one that was stored as text; None for anything else."""
    number = size_checks.number(cell)
    return number if math.isfinite(number) else None


def _at(cells: Sequence[object], column: int) -> object:
    return cells[column] if column < len(cells) else None


def _empty(cell: object) -> bool:
    return _text(cell) == ""


def _absent(cell: object) -> bool:
    return _empty(cell) or (isinstance(cell, str) and _text(cell).lower() in ABSENT)


def _text(cell: object) -> str:
    return "" if cell is None else " ".join(str(cell).split())
