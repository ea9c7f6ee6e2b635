"""An xlsx file as rows of cells, opened with the distrust that a file from elsewhere deserves."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from deepbench_ops.errors import DeepbenchError

LARGEST_BYTES = 50_000_000
"""What a workbook may unpack to; DeepBench's largest unpacks to less than a megabyte."""

ENCRYPTED = bytes.fromhex("d0cf11e0a1b11ae1")
"""How a file begins that is no zip: a workbook with a password, or one from before 2007."""


@dataclass(frozen=True)
class Place:
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

    def place(self, row: int, column: int) -> Place:
        """The place of rows[row][column]."""
        from openpyxl.utils import get_column_letter

        return Place(self.name, get_column_letter(column + 1), row + 1)


def is_workbook(path: Path) -> bool:
    """Whether a file begins like a workbook, or like one that cannot be read; DeepbenchError if
    it cannot be opened at all.
    """
    try:
        with path.open("rb") as stream:
            start = stream.read(len(ENCRYPTED))
    except OSError as error:
        raise DeepbenchError(f"{path}: {error.strerror}") from None
    return start == ENCRYPTED or start.startswith(b"PK")


def read(path: Path) -> tuple[Sheet, ...]:
    """Return the sheets of a workbook.

    Raises DeepbenchError, naming the file and where it lies in the file, for what is no
    workbook, is too large, refers to other files, or has formulas without a stored value.
    """
    _refuse_other_files(path)
    values = tuple(Sheet(name, tuple(rows)) for name, rows in _rows(path, values=True))
    for sheet, (_, formulas) in zip(values, _rows(path, values=False), strict=True):
        _refuse_unusable(path, sheet, formulas)
    return values


def _refuse_other_files(path: Path) -> None:
    try:
        with path.open("rb") as stream:
            if stream.read(len(ENCRYPTED)) == ENCRYPTED:
                raise DeepbenchError(
                    f"{path} has a password, or is older than xlsx: save it as xlsx without one"
                )
        with ZipFile(path) as parts:
            size = sum(part.file_size for part in parts.infolist())
            known = "xl/workbook.xml" in parts.namelist()
    except BadZipFile:
        raise DeepbenchError(f"{path} is not an xlsx workbook, or only a part of one") from None
    except OSError as error:
        raise DeepbenchError(f"{path}: {error.strerror}") from None
    if not known:
        raise DeepbenchError(f"{path} is a zip file, but no xlsx workbook")
    if size > LARGEST_BYTES:
        raise DeepbenchError(
            f"{path} unpacks to {size / 1e6:.0f} MB; a workbook of results may have"
            f" {LARGEST_BYTES / 1e6:.0f} MB"
        )


def _rows(path: Path, values: bool) -> Iterator[tuple[str, list[tuple[Any, ...]]]]:
    """Yield name and rows of each sheet: of values, or of formulas where there are any."""
    from openpyxl import load_workbook

    with warnings.catch_warnings():
        # Drawings and the like, which openpyxl cannot keep and nobody here wants.
        warnings.simplefilter("ignore", UserWarning)
        try:
            book = load_workbook(path, read_only=True, data_only=values)
            for sheet in book.worksheets:
                sheet.reset_dimensions()  # what the file says of its size may be wrong
                yield sheet.title, list(sheet.iter_rows(values_only=True))
            book.close()
        except (KeyError, ValueError, TypeError, AttributeError, BadZipFile, SyntaxError) as error:
            raise DeepbenchError(
                f"{path} is damaged: {type(error).__name__}: {' '.join(str(error).split())[:120]}"
            ) from None


def _refuse_unusable(path: Path, sheet: Sheet, formulas: list[tuple[Any, ...]]) -> None:
    for row, cells in enumerate(formulas):
        for column, cell in enumerate(cells):
            if not (isinstance(cell, str) and cell.startswith("=")):
                continue
            if "[" in cell:
                raise DeepbenchError(
                    f"{path}: {sheet.place(row, column)} refers to another file ({cell[:60]}): put"
                    " its value there"
                )
            if sheet.rows[row][column] is None:
                raise DeepbenchError(
                    f"{path}: {sheet.place(row, column)} is a formula ({cell[:60]}) without its"
                    " value: open the file in a spreadsheet program and save it"
                )
