"""Operands by name, and references of outputs that are computed by row, column or entry.

For families whose operations read a few arrays, and whose output entries depend on one row of
these, or are the sum of one column. Kernels of these families compute in float32 and store in their
own precision, as libraries do for 16-bit numbers.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from deepbench_ops.backends.families.propagated_errors import Bounded, exact
from deepbench_ops.backends.kernel import Index
from deepbench_ops.random_operands import floats, random_bits

COMPUTE_PRECISION = "float32"
"""Precision of values that are computed but not stored."""


GRADIENT = "gradient"
"""Start of the names of operands that only backward passes have: the gradients of the outputs, in
the order of the outputs."""


MOST_ENTRIES = 2**22
"""Entries of a reference that are computed at a time."""

Makers = dict[str, Callable[[], np.ndarray]]
"""Functions that draw the operands, by name."""


class Operands:
    """Operands by name, each drawn at its first use, with notes on them.

    Integers are int64; bfloat16 operands are float32 with values of that precision.
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
        """Return the operands of an operation by name, without gradients unless it is a backward
        pass."""
        backward = operation.endswith("backward")
        return {
            name: self[name] for name in self.makers if backward or not name.startswith(GRADIENT)
        }

    def gradient_names(self) -> list[str]:
        """Return the names of the outputs' gradients, in the order of the outputs."""
        return [name for name in self.makers if name.startswith(GRADIENT)]

    def exactly(self, name: str, where: Any = slice(None)) -> Bounded:
        """Return entries of an operand, without error, for computation in float32."""
        return exact(self[name][where], COMPUTE_PRECISION)


def rows_and_gradient(
    shape: tuple[int, int], precision: str, half_width: float, seed: int
) -> Operands:
    """Draw x, uniform in [-half_width, half_width), and the output's gradient, in [-1, 1)."""
    makers: Makers = {
        "x": partial(floats, shape, precision, half_width, seed, 0),
        GRADIENT: partial(floats, shape, precision, 1.0, seed, 1),
    }
    return Operands(makers, drawn(f"x in +-{half_width:g}, gradient in +-1", seed))


def drawn(text: str, seed: int, layout: str = "row-major") -> dict[str, str]:
    """Return the notes for the record on operands whose distribution `text` describes."""
    inputs = f"{text}; raw bits of SFC64, seed {seed}"
    return {"inputs": inputs, "layout": layout, "padding": "none"}


def integers(shape: tuple[int, ...], below: int, seed: int, stream: int) -> np.ndarray:
    """Return random int64 numbers from 0 to below - 1."""
    words: np.ndarray = random_bits(8 * int(np.prod(shape)), seed, stream).view("<u8")
    return (words % np.uint64(below)).astype(np.int64).reshape(shape)


@dataclass(frozen=True)
class RowReference:
    """Reference of an output whose rows can be computed one by one.

    rows: function from row numbers to these rows of the output. precision: that in which the output
    is stored, None where its numbers are copied.
    """

    shape: tuple[int, ...]
    rows: Callable[[np.ndarray], Bounded]
    precision: str | None

    def everywhere(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed) of all rows."""
        found = stored(self.rows(np.arange(self.shape[0])), self.precision)
        return found.value, found.error

    def at(self, index: Index) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed) at some entries; each of their rows is computed once."""
        wanted, place = np.unique(index[0], return_inverse=True)
        found = stored(self.rows(wanted), self.precision)
        where = (place.reshape(-1), *index[1:])
        return found.value[where], found.error[where]


@dataclass(frozen=True)
class EntryReference:
    """Reference of an output whose entries can be computed one by one.

    entries: function from an index, an array of integers for each axis, to these entries.
    precision: that in which the output is stored, None where its numbers are copied.
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
    """Reference of a vector whose entries are sums over all rows.

    terms: function from column numbers to the terms of their sums, rows x columns.
    """

    columns: int
    terms: Callable[[np.ndarray], Bounded]
    precision: str

    @property
    def shape(self) -> tuple[int]:
        """Shape of the output, (columns,)."""
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
    """Reference of an output that is computed as a whole, once.

    compute: function that returns (expected, allowed).
    """

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
    """Return the values rounded to a precision, or unchanged for None."""
    return values if precision is None else values.rounded_to(precision)


def row_chunks(rows: int, row_size: int, most: int = MOST_ENTRIES) -> list[np.ndarray]:
    """Return the numbers of all rows, in arrays of rows with about `most` entries each."""
    count = max(1, -(-rows * row_size // most))
    return np.array_split(np.arange(rows), min(count, rows))
