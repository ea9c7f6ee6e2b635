"""Rows of cells of an xlsx file, refused where it is too large or refers to other files."""

import re
import warnings
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from xml.etree.ElementTree import iterparse
from zipfile import BadZipFile, ZipFile

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.storage import bounded_read

if TYPE_CHECKING:
    from openpyxl import Workbook

LARGEST_BYTES = 50_000_000
"""Bytes that a workbook may unpack to; DeepBench's largest unpacks to less than a megabyte."""

ENCRYPTED = bytes.fromhex("d0cf11e0a1b11ae1")
"""First bytes of a file that is no zip: a workbook with a password, or one from before 2007."""

_NAMES = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
CELL, FORMULA, ROW = f"{_NAMES}c", f"{_NAMES}f", f"{_NAMES}row"

OTHER_FILE = re.compile(r"(?<![\w\]])\[[^\[\]]*\][\w.]*!|'[^'\[]*\[[^'\[]*'!|'[^']*'#")
"""A reference of a formula to another file, such as [1]Sheet1!A1 or 'file:///a.ods'#$Sheet1.A1. A
table's column, Table1[Time], is in the same one."""

OTHER_PROGRAM = re.compile(
    r"\||://|(?<!\w)(WEBSERVICE|RTD|DDE|CALL|REGISTER(\.ID)?|EXEC|IMAGE|STOCKHISTORY|CUBE\w+"
    r"|SQL\.REQUEST)\s*\(",
    re.IGNORECASE,
)
"""A value that a formula gets from a program or a server: by dynamic data exchange, cmd|'/c x'!A1,
or by a function that asks one. It is looked for outside of `QUOTED`."""

QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'|\[[^\[\]]*\]")
"""Texts, names of sheets and columns of tables in a formula."""

WORD = re.compile(r"[^\W\d][\w.\\?]*")


@dataclass(frozen=True)
class CellAddress:
    """A cell, as a spreadsheet names it."""

    sheet: str
    column: str
    row: int

    def __str__(self) -> str:
        return f"sheet {self.sheet!r}, cell {self.column}{self.row}"


@dataclass(frozen=True)
class Sheet:
    """A sheet's name and its cells, from A1 on, with the values that its formulas had when saved.

    Values are numbers, texts, dates or None; an error is its text, such as "#VALUE!".
    """

    name: str
    rows: tuple[tuple[Any, ...], ...]

    def place(self, row: int, column: int) -> CellAddress:
        """The place of rows[row][column]."""
        from openpyxl.utils import get_column_letter

        return CellAddress(self.name, get_column_letter(column + 1), row + 1)


def is_workbook(content: bytes) -> bool:
    """Whether a file's content begins like a workbook, or like one that cannot be read."""
    return content.startswith((ENCRYPTED, b"PK"))


def read(path: Path, content: bytes | None = None) -> tuple[Sheet, ...]:
    """Return the sheets of a workbook.

    content: the file's, where it was read before. Raises DeepbenchError, naming the file and where
    it lies in the file, for a file that is no workbook, is too large, refers to other files, or has
    formulas without a stored value.
    """
    from openpyxl import load_workbook

    if content is None:
        content = bounded_read.read_input(path, bounded_read.RESULT)
    _refuse_other_files(path, content)
    found = []
    with warnings.catch_warnings():
        # Drawings and the like, which openpyxl cannot keep and no reader here needs.
        warnings.simplefilter("ignore", UserWarning)
        try:
            book = load_workbook(BytesIO(content), read_only=True, data_only=True)
            outside = _outside(book)
            for page in book.worksheets:
                page.reset_dimensions()  # the size that the file states may be wrong
                sheet = Sheet(page.title, tuple(page.iter_rows(values_only=True)))
                with page._get_source() as part:
                    _refuse_unusable(path, sheet, part, outside)
                found.append(sheet)
            book.close()
        except DeepbenchError:
            raise
        except Exception as error:  # of zlib, zipfile, the XML parser, openpyxl: no list of theirs
            raise DeepbenchError(
                f"{path} is damaged: {type(error).__name__}: {' '.join(str(error).split())[:120]}"
            ) from None
    return tuple(found)


def _refuse_other_files(path: Path, content: bytes) -> None:
    if content.startswith(ENCRYPTED):
        raise DeepbenchError(
            f"{path} has a password, or is older than xlsx: save it as xlsx without one"
        )
    try:
        with ZipFile(BytesIO(content)) as parts:
            size = sum(part.file_size for part in parts.infolist())
            locked = any(part.flag_bits & 1 for part in parts.infolist())
            known = "xl/workbook.xml" in parts.namelist()
    except BadZipFile:
        raise DeepbenchError(f"{path} is not an xlsx workbook, or only a part of one") from None
    if locked:
        raise DeepbenchError(f"{path} is a zip file with a password: save it without one")
    if not known:
        raise DeepbenchError(f"{path} is a zip file, but no xlsx workbook")
    if size > LARGEST_BYTES:
        raise DeepbenchError(
            f"{path} unpacks to {size / 1e6:.0f} MB; a workbook of results may have"
            f" {LARGEST_BYTES / 1e6:.0f} MB"
        )


def _outside(book: "Workbook") -> set[str]:
    """Return the names of a workbook, in small letters, that stand for something outside of it; a
    name may do so by another's."""
    groups = [book.defined_names, *(page.defined_names for page in book.worksheets)]
    named = [(name.lower(), each.value or "") for of in groups for name, each in of.items()]
    found: set[str] = set()
    before = -1
    while before < len(found):
        before = len(found)
        found = {name for name, text in named if _refers_outside(text, found)}
    return found


def _refers_outside(formula: str, outside: Collection[str]) -> bool:
    """Return whether a formula has its value from elsewhere, itself or by one of these names."""
    bare = QUOTED.sub(" ", formula)
    return bool(
        OTHER_FILE.search(formula)
        or OTHER_PROGRAM.search(bare)
        or any(word.lower() in outside for word in WORD.findall(bare))
    )


def _refuse_unusable(path: Path, sheet: Sheet, part: IO[bytes], outside: Collection[str]) -> None:
    """Raise DeepbenchError for a formula of a sheet's part that has no value, or one elsewhere.

    `outside` are the names of the workbook that stand for content of other files. Formulas
    are read from the file itself: openpyxl gives formulas or values, each with a pass of its own.
    """
    for row, column, formula in _formulas(part):
        place = sheet.place(row, column)
        shown = f"={' '.join(formula.split())[:60]}"
        if _refers_outside(formula, outside):
            raise DeepbenchError(
                f"{path}: {place} refers to something outside of the workbook ({shown}): put its"
                " value there"
            )
        if sheet.rows[row][column] is None:
            raise DeepbenchError(
                f"{path}: {place} is a formula ({shown}) without its value: open the file in a"
                " spreadsheet program and save it"
            )


def _formulas(part: IO[bytes]) -> Iterator[tuple[int, int, str]]:
    """Yield row, column and text of each formula: plain, shared, of an array, of a data table.

    A row or a cell that does not say where it is follows the one before it.
    """
    from openpyxl.utils import coordinate_to_tuple

    row = 0
    for _, element in iterparse(part):
        if element.tag != ROW:
            continue
        row, column = int(element.get("r", row + 1)), 0
        for cell in element.iterfind(CELL):
            place = cell.get("r")
            column = coordinate_to_tuple(place)[1] if place else column + 1
            formula = cell.find(FORMULA)
            if formula is not None:
                yield row - 1, column - 1, formula.text or ""
        element.clear()
