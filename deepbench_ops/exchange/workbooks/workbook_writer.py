"""Results as a workbook in DeepBench's style; `workbook_timings` reads the same numbers back.

One workbook is one published set, one sheet one precision. Behind the published columns of a table
stand FLOPS, derived from the problem, and the interval of each time where it was measured, for
readers; the last sheet but one holds all times with samples as a table, for `export_table_reader`.
"""

import datetime
import errno
import gc
import io
import os
import sys
import tempfile
from collections.abc import Iterable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from deepbench_ops.analysis.points import Point
from deepbench_ops.errors import DeepbenchError, NoAnswer
from deepbench_ops.exchange import export_table_writer
from deepbench_ops.exchange.workbooks.workbook_headings import SHEETS, SIZES, TIMES
from deepbench_ops.exchange.workbooks.workbook_timings import SET, SPECS, TABLE
from deepbench_ops.problems.precision import MIXED
from deepbench_ops.run_conditions import CONDITIONS
from deepbench_ops.storage import atomic_write

PRECISIONS = {
    "float32": "Float",
    "tf32": "tf32",
    "bfloat16": "bfloat16 inputs, 32 bit addition",
    "float16": "16 bit inputs, 32 bit addition",
    "int8": "Int8 multiplication, 32 bit accumulation",
    MIXED: "32 bit inputs, 16 bit multiplication, 32 bit addition",
}

RANKS = "# chips / accelerator cards"

RATES = {
    "backward": "BWD TERAFLOPS",
    "backward_data": "BWD INPUTS TERAFLOPS",
    "backward_weights": "BWD PARAMS TERAFLOPS",
}
"""Headers of derived FLOPS as DeepBench has them; of sparse products it counts otherwise."""


def write(path: Path, points: Sequence[Point], facts: dict[str, str]) -> None:
    """Write the points of one release and set as a workbook; `facts` become its `Specs` sheet.

    Raises DeepbenchError where they are of several sets or releases, or under other conditions.
    """
    from openpyxl import Workbook

    _refuse_mixture(points)
    book = Workbook()
    book.remove(book.active)
    for precision in dict.fromkeys(point.precision for point in points):
        sheet = book.create_sheet(f"Results - {precision}")
        sheet.append(["Precision", PRECISIONS.get(precision, precision)])
        for rows in _sections([point for point in points if point.precision == precision]):
            sheet.append([])
            for row in rows:
                sheet.append([_cell(sheet, value) for value in row])
    table = book.create_sheet(TABLE)
    for cells in (
        export_table_writer.COLUMNS,
        *(export_table_writer.cells(export_table_writer.row(point)) for point in points),
    ):
        table.append([_cell(table, value) for value in cells])
    specs = book.create_sheet(SPECS)
    for pair in {**facts, SET: points[0].set}.items():
        specs.append([_cell(specs, text) for text in pair])
    # Neither the day nor the hour of writing: the same results give the same workbook.
    book.properties.created = book.properties.modified = datetime.datetime(2000, 1, 1)
    content = _saved(book)
    with atomic_write.replacing(path) as unfinished:
        unfinished.write_bytes(content)


def _saved(book: Any) -> bytes:
    """Return the bytes of a workbook. Raises OSError where openpyxl's temporary files find no room.

    Its writers fail again while they are closed, some with another kind of error, and when they are
    removed, which Python would print.
    """
    content, failure, hook = io.BytesIO(), None, sys.unraisablehook
    sys.unraisablehook = lambda _: None
    try:
        book.save(content)
    except Exception as error:
        failure = _number_and_text(error)
        if failure is None:
            raise
    finally:
        if failure is not None:
            gc.collect()
        sys.unraisablehook = hook
    if failure is not None:
        raise OSError(*failure, tempfile.gettempdir())
    return content.getvalue()


def _number_and_text(error: BaseException | None) -> tuple[int, str] | None:
    """Return those of the OSError that an error is, or was raised after; None without such.

    Where lxml is installed, openpyxl writes by it. Its error has only a name, such as IO_ENOSPC.
    """
    while error is not None and not isinstance(error, OSError):
        kind, _, name = str(error).partition("_")
        if type(error).__name__ == "SerialisationError" and kind == "IO":
            number = getattr(errno, name, errno.EIO)
            return number, os.strerror(number)
        error = error.__context__
    return None if error is None else (error.errno or errno.EIO, error.strerror or str(error))


def _cell(sheet: Any, value: Any) -> Any:
    """Return a cell with all digits of a float (openpyxl itself writes 16), or with text that is
    no formula, even where it begins like one.

    Raises DeepbenchError for text with a control character, which a workbook cannot hold.
    """
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.utils.exceptions import IllegalCharacterError

    if not isinstance(value, float | str):
        return value
    try:
        cell = WriteOnlyCell(sheet, value=repr(value) if isinstance(value, float) else value)
    except IllegalCharacterError:
        raise DeepbenchError(
            f"{value!r} holds a control character, which a workbook cannot hold: mend it in the"
            " machine's profile, or export csv"
        ) from None
    cell.data_type = "n" if isinstance(value, float) else "s"
    return cell


def has_column(point: Point) -> bool:
    """Whether a table of its family has a column for a point: compiling and models have none."""
    return point.operation in TIMES.get(point.family, {}).values()


def _refuse_mixture(points: Sequence[Point]) -> None:
    if not points:
        raise NoAnswer("nothing to export: no selected result fits into a workbook: write .csv")
    for what in ("set", *(condition.name for condition in CONDITIONS)):
        found = sorted({str(getattr(point, what)) for point in points})
        if len(found) > 1:
            raise DeepbenchError(
                f"a workbook has one {what}, not {' and '.join(found)}: choose one"
            )
    names = sorted({point.release.name for point in points})
    if len(names) > 1:
        raise DeepbenchError(f"a workbook has one release, not {', '.join(names)}: choose one")


def _sections(points: Sequence[Point]) -> Iterable[list[list[Any]]]:
    for family, sheets in SHEETS.items():
        for table in sheets.tables:
            found = [
                point
                for point in points
                if point.family == family and table.fixed.items() <= point.problem.sizes().items()
            ]
            if found:
                yield _table(table.title, found)


def _table(title: str, points: Sequence[Point]) -> list[list[Any]]:
    family = points[0].family
    sizes = {name: words for words, name in reversed(SIZES[family].items())}
    sizes = {name: sizes[name] for name in points[0].problem.sizes() if name in sizes}
    times = {name: words for words, name in TIMES[family].items()}
    times = {name: times[name] for name in times if any(p.operation == name for p in points)}
    ranked = points[0].ranks is not None
    rows: dict[tuple[str, int | None], dict[str, Point]] = {}
    for point in points:
        rows.setdefault((point.problem_id, point.ranks), {})[point.operation] = point
    headers = ["", *(_capitals(words) for words in sizes.values()), *([RANKS] if ranked else [])]
    headers += [f"{_capitals(words)} (msec)" for words in times.values()]
    for name in times:
        headers += [RATES.get(name, f"{name} TFLOP/s"), f"{name} low, msec", f"{name} high, msec"]
    table: list[list[Any]] = [[title], headers]
    for (_, ranks), found in rows.items():
        values = next(iter(found.values())).problem.sizes()
        row = ["", *(_size(values[name]) for name in sizes), *([ranks] if ranked else [])]
        row += [_milliseconds(found[name].seconds) if name in found else None for name in times]
        for name in times:
            row += _derived(found.get(name))
        table.append(row)
    return table


def _derived(point: Point | None) -> list[float | str | None]:
    """Return 10^12 FLOP/s and the interval in milliseconds."""
    if point is None:
        return [None, None, None]
    flops = point.flops
    bounds = [None if x is None else _milliseconds(x) for x in point.interval or (None, None)]
    return [flops / point.seconds / 1e12 if flops else None, *bounds]


def _capitals(words: str) -> str:
    return words.upper() if len(words) == 1 else words.title()


def _milliseconds(seconds: float) -> float | str:
    """Return a time so that it is read back to the last digit: as text where no float does."""
    exact = Decimal(repr(seconds)) * 1000
    back = float(Decimal(repr(float(exact))) * Decimal("0.001"))
    return float(exact) if back == seconds else str(exact)


def _size(value: Any) -> Any:
    return "NT"[value] if isinstance(value, bool) else value
