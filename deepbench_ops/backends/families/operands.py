"""Operands by name, and references of outputs that follow row by row or column by column.

For families whose operations read a few arrays and whose entries each depend on one row of them, or
add up one column. Computed is in float32 and stored in the kernel's precision, which is how
libraries handle 16-bit numbers there.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from deepbench_ops.backends.families.propagated_errors import Bounded, exact
from deepbench_ops.backends.kernel import Index
from deepbench_ops.random_operands import floats, random_bits

COMPUTED = "float32"
"""The precision of what is not stored."""


GRADIENT = "gradient"
"""Start of the names of operands of backward passes alone: gradients of the outputs, in order."""


Makers = dict[str, Callable[[], np.ndarray]]
"""Functions that draw the operands, by name."""


class Operands:
    """Arrays by name, each drawn when it is first asked for, and notes on them.

    Integers are int64; bfloat16 is float32, rounded.
    """

    def __init__(self, makers: Makers, notes: Mapping[str, str]) -> None:
        self.makers = makers
        self.notes = notes
        self._drawn: dict[str, np.ndarray] = {}

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._drawn:
            self._drawn[name] = self.makers[name]()
        return self._drawn[name]

    def of(self, operation: str) -> dict[str, np.ndarray]:
        """Return the operands of an operation: the arriving gradient of backward passes alone."""
        backward = operation.endswith("backward")
        return {
            name: self[name] for name in self.makers if backward or not name.startswith(GRADIENT)
        }

    def gradient_names(self) -> list[str]:
        """Names of the gradients of the outputs, in order."""
        return [name for name in self.makers if name.startswith(GRADIENT)]

    def exactly(self, name: str, where: Any = slice(None)) -> Bounded:
        """Entries of an operand, as numbers in float32 without error."""
        return exact(self[name][where], COMPUTED)


def rows_and_gradient(
    shape: tuple[int, int], precision: str, half_width: float, seed: int
) -> Operands:
    """Draw x, uniform in +-half_width, and the gradient that arrives, in [-1, 1)."""
    makers: Makers = {
        "x": partial(floats, shape, precision, half_width, seed, 0),
        GRADIENT: partial(floats, shape, precision, 1.0, seed, 1),
    }
    return Operands(makers, drawn(f"x in +-{half_width:g}, gradient in +-1", seed))


def drawn(text: str, seed: int, layout: str = "row-major") -> dict[str, str]:
    """Return the notes on operands that `text` describes."""
    inputs = f"{text}; raw bits of SFC64, seed {seed}"
    return {"inputs": inputs, "layout": layout, "padding": "none"}


def integers(shape: tuple[int, ...], below: int, seed: int, stream: int) -> np.ndarray:
    """Return random int64 numbers from 0 to below - 1."""
    words: np.ndarray = random_bits(8 * int(np.prod(shape)), seed, stream).view("<u8")
    return (words % np.uint64(below)).astype(np.int64).reshape(shape)


@dataclass(frozen=True)
class RowReference:
    """An output whose entries each depend on the operands' entries of one row.

    rows: function from row numbers to these rows of the output. precision: in which they are
    stored, None where they are copied.
    """

    shape: tuple[int, ...]
    rows: Callable[[np.ndarray], Bounded]
    precision: str | None

    def everywhere(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed) of all rows."""
        found = stored(self.rows(np.arange(self.shape[0])), self.precision)
        return found.value, found.error

    def at(self, index: Index) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed) at some entries, each of their rows computed once."""
        wanted, place = np.unique(index[0], return_inverse=True)
        found = stored(self.rows(wanted), self.precision)
        where = (place.reshape(-1), *index[1:])
        return found.value[where], found.error[where]


@dataclass(frozen=True)
class EntryReference:
    """An output whose entries each depend on a few entries of the operands.

    entries: function from an index, an array of integers for each axis, to these entries.
    precision: in which they are stored, None where they are copied.
    """

    shape: tuple[int, ...]
    entries: Callable[[Index], Bounded]
    precision: str | None

    def everywhere(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed) of all entries."""
        index = tuple(axis.reshape(-1) for axis in np.indices(self.shape))
        return tuple(each.reshape(self.shape) for each in self.at(index))  # type: ignore[return-value]

    def at(self, index: Index) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed) at some entries."""
        found = stored(self.entries(index), self.precision)
        return found.value, found.error


@dataclass(frozen=True)
class ColumnReference:
    """A vector of sums over all rows.

    terms: function from column numbers to what is added up, rows x columns.
    """

    columns: int
    terms: Callable[[np.ndarray], Bounded]
    precision: str

    @property
    def shape(self) -> tuple[int]:
        """(columns,)."""
        return (self.columns,)

    def everywhere(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed) of all columns."""
        return self.at((np.arange(self.columns),))

    def at(self, index: Index) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed) at some columns."""
        found = self.terms(index[0]).sum(axis=0).rounded_to(self.precision)
        return found.value[0], found.error[0]


@dataclass(frozen=True)
class WholeReference:
    """An output that is computed as a whole, once."""

    shape: tuple[int, ...]
    compute: Callable[[], tuple[np.ndarray, np.ndarray]]

    @cached_property
    def _computed(self) -> tuple[np.ndarray, np.ndarray]:
        return self.compute()

    def everywhere(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed)."""
        return self._computed

    def at(self, index: Index) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed) at some entries."""
        expected, allowed = self._computed
        return expected[index], allowed[index]


def stored(values: Bounded, precision: str | None) -> Bounded:
    """Return the values as stored in a precision, as they are for None."""
    return values if precision is None else values.rounded_to(precision)


def in_pieces(rows: int, row_size: int, most: int = 2**22) -> list[np.ndarray]:
    """Return the numbers of all rows, in pieces of about `most` entries."""
    count = max(1, -(-rows * row_size // most))
    return np.array_split(np.arange(rows), min(count, rows))
