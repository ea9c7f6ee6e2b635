"""Tables for a reader: as wide as the terminal, or whole where the output is no terminal.

On a narrow terminal titles are wrapped first, then the text of columns that may be, then columns
are left out in the order that they declare, and named below the table. Only text that is still too
wide is broken within words.
"""

import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import click
from tabulate import tabulate

GAP = "  "
NARROWEST = 6
"""Characters of a column whose words must be broken."""
WIDE = "deepbench.wide"
"""The key in click's context under which --wide is kept."""


@dataclass(frozen=True)
class Column:
    """A column's title, and whether it is wrapped or left out on a narrow terminal.

    drop: 0 for never left out, else the highest is left out first. wrap: the fewest characters to
    which its text may be wrapped, 0 for not at all.
    """

    title: str
    right: bool = False
    drop: int = 0
    wrap: int = 0


def terminal_width() -> int | None:
    """Return the characters of a line; None where lines have no limit: --wide, pipes, files."""
    context = click.get_current_context(silent=True)
    if context is not None and context.meta.get(WIDE):
        return None
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


class Layout:
    """The columns that are shown and their widths, for rows that are known or still to come."""

    def __init__(self, columns: Sequence[Column], widths: Sequence[int], limit: int | None) -> None:
        """Fit columns whose cells take so many characters into lines of `limit`."""
        self.columns, self.limit = columns, limit
        self.shown = list(range(len(columns)))
        self.widths = [
            max(width, *map(len, column.title.split("\n")))
            for column, width in zip(columns, widths, strict=True)
        ]
        if limit is not None and self._width() > limit:
            cells = list(widths)
            while not self._squeezed(cells, limit):
                droppable = [place for place in self.shown if columns[place].drop]
                if not droppable:
                    self._break(limit)
                    break
                self.shown.remove(max(droppable, key=lambda place: columns[place].drop))
            self._widen(cells, limit)

    @property
    def left_out(self) -> list[str]:
        """The titles of the columns that are not shown."""
        return [
            " ".join(column.title.split())
            for place, column in enumerate(self.columns)
            if place not in self.shown
        ]

    def head(self) -> str:
        """Return the titles and the line below them."""
        titles = [column.title for column in self.columns]
        rule = GAP.join("-" * self.widths[place] for place in self.shown)
        return f"{self._lines(titles, bottom=True)}\n{rule}"

    def line(self, row: Sequence[object]) -> str:
        """Return one row, of as many lines as its wrapped cells need."""
        return self._lines(["" if cell is None else str(cell) for cell in row])

    def _width(self) -> int:
        return sum(self.widths[place] for place in self.shown) + len(GAP) * (len(self.shown) - 1)

    def _squeezed(self, cells: Sequence[int], limit: int) -> bool:
        """Wrap titles, then cells where that is allowed; return whether the rest fits."""
        fewest = {}
        for place in self.shown:
            column = self.columns[place]
            word = max(map(len, column.title.split()), default=0)
            self.widths[place] = max(cells[place], word)
            fewest[place] = max(column.wrap, word) if column.wrap else self.widths[place]
        self._narrow(fewest, limit)
        return self._width() <= limit

    def _break(self, limit: int) -> None:
        self._narrow(dict.fromkeys(self.shown, NARROWEST), limit)

    def _widen(self, cells: Sequence[int], limit: int) -> None:
        """Give the room that is left to the columns that were narrowed, first column first."""
        for place in self.shown:
            title = max(map(len, self.columns[place].title.split("\n")))
            wanted = max(cells[place], title) - self.widths[place]
            self.widths[place] += max(0, min(wanted, limit - self._width()))

    def _narrow(self, fewest: dict[int, int], limit: int) -> None:
        """Take characters from the widest columns until the line fits or all have their fewest."""
        while self._width() > limit:
            able = [place for place in self.shown if self.widths[place] > fewest[place]]
            if not able:
                return
            self.widths[max(able, key=lambda place: self.widths[place])] -= 1

    def _lines(self, row: Sequence[str], bottom: bool = False) -> str:
        cells = [self._wrapped(place, row[place]) for place in self.shown]
        if bottom:
            most = max(map(len, cells))
            cells = [[""] * (most - len(cell)) + cell for cell in cells]
        return "\n".join(
            GAP.join(map(self._padded, self.shown, line)).rstrip()
            for line in zip_longest(*cells, fillvalue="")
        )

    def _wrapped(self, place: int, text: str) -> list[str]:
        lines, width = text.split("\n"), self.widths[place]
        if self.limit is None:
            return lines
        return [part for line in lines for part in _Words(width).wrap(line) or [""]]

    def _padded(self, place: int, text: str) -> str:
        width = self.widths[place]
        return text.rjust(width) if self.columns[place].right else text.ljust(width)


class _Words(textwrap.TextWrapper):
    """Breaks lines at spaces and behind the underscores and hyphens of ids."""

    wordsep_re = re.compile(r"(\s+|\S+?[_-](?=\w))")


def fits(columns: Sequence[Column], rows: Sequence[Sequence[object]]) -> bool:
    """Return whether the whole table fits the terminal, but for titles that are wrapped."""
    unbound = [Column(column.title) for column in columns]
    layout = Layout(unbound, _natural(columns, rows), terminal_width())
    return all(
        width >= wanted
        for width, wanted in zip(layout.widths, _natural(columns, rows), strict=True)
    )


def table(
    columns: Sequence[Column], rows: Sequence[Sequence[object]], markdown: bool = False
) -> str:
    """Return a table of the rows: all of it as Markdown, else as wide as the terminal."""
    if markdown:
        align = ["right" if column.right else "left" for column in columns]
        return tabulate(
            [["" if cell is None else str(cell) for cell in row] for row in rows],
            [" ".join(column.title.split()) for column in columns],
            "github",
            disable_numparse=True,
            colalign=align if rows else None,
        )
    layout = Layout(columns, _natural(columns, rows), terminal_width())
    below = [left_out(layout)] if layout.left_out else []
    return "\n".join([layout.head(), *map(layout.line, rows), *below])


def left_out(layout: Layout) -> str:
    """Return the line that names the columns which the terminal has no room for."""
    names = ", ".join(layout.left_out)
    return prose(f"(not shown: {names}; --wide shows all)")


def prose(text: str, indent: str = "") -> str:
    """Return sentences wrapped to the terminal; lines after the first are indented."""
    limit = terminal_width()
    if limit is None:
        return text
    return textwrap.fill(
        text, limit, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def _natural(columns: Sequence[Column], rows: Iterable[Sequence[object]]) -> list[int]:
    """Return the widest line of each column's cells, in characters."""
    widths = [0] * len(columns)
    for row in rows:
        for place, cell in enumerate(row):
            text = "" if cell is None else str(cell)
            widths[place] = max(widths[place], *map(len, text.split("\n")))
    return widths
