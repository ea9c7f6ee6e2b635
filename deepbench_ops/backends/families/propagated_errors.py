"""Numbers in float64 with the largest error that a correct kernel may have at each of them.

A recurrent step rounds a dozen times between its product and its state, and the next step starts
from that. Each operation here adds what its own rounding may be off by to what its operands
were off by already, so that the tolerance of a whole recurrence is computed along with it, not
guessed.

Along a chain of elementwise operations errors add up. In a product of many terms
they add up like randomly signed numbers, as in `tolerance.allowed`. There the bound of a single
rounding, about two of its standard deviations, would be too tight: it is counted twice.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deepbench_ops.backends.tolerance import LIBRARY, SMALLEST, UNIT_ROUNDOFF, allowed

MULTIPLIER = {"tf32": 2.0**-11}
"""Relative error of an operand, stored as float32, in a multiplier that takes fewer bits of it."""


@dataclass(frozen=True)
class Bounded:
    """A float64 array and the error allowed at each of its entries."""

    value: np.ndarray
    error: np.ndarray
    precision: str

    def __getitem__(self, where: Any) -> "Bounded":
        return Bounded(self.value[where], self.error[where], self.precision)

    def __add__(self, other: "Bounded") -> "Bounded":
        return self._stored(self.value + other.value, self.error + other.error)

    def __sub__(self, other: "Bounded") -> "Bounded":
        return self._stored(self.value - other.value, self.error + other.error)

    def __mul__(self, other: "Bounded") -> "Bounded":
        crossed = (
            np.abs(self.value) * other.error
            + np.abs(other.value) * self.error
            + self.error * other.error
        )
        return self._stored(self.value * other.value, crossed)

    def sigmoid(self) -> "Bounded":
        """1 / (1 + exp(-x)); also where it is made from a stored tanh(x/2)."""
        value = 0.5 + 0.5 * np.tanh(0.5 * self.value)
        rounded = UNIT_ROUNDOFF[self.precision] * np.abs(value - 0.5) + LIBRARY
        return self._stored(value, value * (1 - value) * self.error + self.error**2 + rounded)

    def tanh(self) -> "Bounded":
        """Hyperbolic tangent of each number."""
        value = np.tanh(self.value)
        library = LIBRARY * np.abs(value)
        return self._stored(value, (1 - value**2) * self.error + self.error**2 + library)

    def __truediv__(self, other: "Bounded") -> "Bounded":
        least = np.abs(other.value) - other.error
        value = self.value / other.value
        carried = (self.error + np.abs(value) * other.error) / np.maximum(
            least, np.finfo(float).tiny
        )
        return self._stored(value, carried + LIBRARY * np.abs(value))

    def exp(self) -> "Bounded":
        """e to the power of each number.

        A library may multiply by log2(e) in float32 before it raises 2 to that: an error of
        2 u |x| in the exponent.
        """
        value = np.exp(self.value)
        exponent = self.error + 2.0**-23 * np.abs(self.value)
        return self._stored(value, value * (np.expm1(exponent) + LIBRARY))

    def log(self) -> "Bounded":
        """Natural logarithm of each number, all above zero."""
        value = np.log(self.value)
        least = np.maximum(self.value - self.error, np.finfo(float).tiny)
        return self._stored(value, self.error / least + LIBRARY * np.maximum(np.abs(value), 1))

    def inverse_root(self) -> "Bounded":
        """1 / sqrt(x) of each number, all above zero."""
        value = 1 / np.sqrt(self.value)
        least = np.maximum(self.value - self.error, np.finfo(float).tiny)
        return self._stored(value, value * (0.5 * self.error / least + LIBRARY))

    def sum(self, axis: int = -1) -> "Bounded":
        """Sums along an axis, which stays with the length 1.

        Partial sums get no further from zero than the sum of the magnitudes. Errors of the terms
        add up like randomly signed numbers, as in a product.
        """
        value = self.value.sum(axis, keepdims=True)
        wander = np.abs(self.value).sum(axis, keepdims=True)
        terms = self.value.shape[axis]
        own = allowed(self.precision, terms, wander, np.abs(value))
        return Bounded(
            value, own + np.sqrt((self.multiplied**2).sum(axis, keepdims=True)), self.precision
        )

    def mean(self, axis: int = -1) -> "Bounded":
        """Means along an axis, which stays with the length 1."""
        total, count = self.sum(axis), self.value.shape[axis]
        return self._stored(total.value / count, total.error / count)

    def rounded_to(self, precision: str) -> "Bounded":
        """The numbers stored in another precision, in which further operations are made."""
        return Bounded(self.value, self.error, precision)._stored(self.value, self.error)

    def relu(self) -> "Bounded":
        """The larger of each number and 0."""
        return Bounded(np.maximum(self.value, 0), self.error, self.precision)

    def positive(self) -> "Bounded":
        """1 where it is above zero, else 0: the slope of a ReLU, of exact values only."""
        return exact((self.value > 0).astype(np.float64), self.precision)

    def slope_of_tanh(self) -> "Bounded":
        """1 - y² of a tanh's value y."""
        squared = self * self
        return self._stored(1 - squared.value, squared.error)

    def product(self, weights: np.ndarray, added: np.ndarray) -> "Bounded":
        """Rows by exact `weights`, as in a kernel that adds the sum to another operand or stores
        it."""
        value, squares = self.value @ weights, weights**2
        carried = self.multiplied**2 @ squares
        return self._summed(value, self.value**2 @ squares, carried, len(weights), added)

    def dot(self, weights: np.ndarray, added: np.ndarray) -> "Bounded":
        """As `product`, of each row with the vectors of its own that `weights` holds for it.

        Rows are (entries, terms), weights (entries, vectors, terms).
        """
        value, squares, errors = (
            np.einsum("et,evt->ev", left, right)
            for left, right in (
                (self.value, weights),
                (self.value**2, weights**2),
                (self.multiplied**2, weights**2),
            )
        )
        return self._summed(value, squares, errors, weights.shape[-1], added)

    @property
    def multiplied(self) -> np.ndarray:
        """The error as it enters a product of many terms."""
        size = np.abs(self.value)
        stored = np.where(self.error > 0, UNIT_ROUNDOFF[self.precision] * size, 0.0)
        return self.error + stored + 2 * MULTIPLIER.get(self.precision, 0.0) * size

    def _summed(
        self,
        value: np.ndarray,
        squares: np.ndarray,
        error_squares: np.ndarray,
        terms: int,
        added: np.ndarray,
    ) -> "Bounded":
        wander = np.abs(added) + np.sqrt(squares)
        own = allowed(self.precision, terms, wander, np.abs(value))
        return Bounded(value, own + np.sqrt(error_squares), self.precision)

    def _stored(self, value: np.ndarray, error: np.ndarray) -> "Bounded":
        rounding = UNIT_ROUNDOFF[self.precision] * np.abs(value) + SMALLEST[self.precision]
        return Bounded(value, error + rounding, self.precision)


def exact(values: np.ndarray, precision: str) -> Bounded:
    """Return values that a kernel holds exactly: its operands, or what it computed itself."""
    wide = np.asarray(values, dtype=np.float64)
    return Bounded(wide, np.zeros_like(wide), precision)


def stacked(parts: list[Bounded]) -> Bounded:
    """Return the parts along a new first axis."""
    values = np.stack([part.value for part in parts])
    return Bounded(values, np.stack([part.error for part in parts]), parts[0].precision)


def joined(parts: Sequence[Bounded]) -> Bounded:
    """Return the parts one behind the other along their first axis."""
    values, errors = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("value", "error")
    )
    return Bounded(values, errors, parts[0].precision)


def chosen(where: np.ndarray, one: Bounded, other: Bounded) -> Bounded:
    """Return `one` where the condition holds, `other` elsewhere."""
    value = np.where(where, one.value, other.value)
    return Bounded(value, np.where(where, one.error, other.error), one.precision)


def summed(left: Bounded, right: Bounded) -> Bounded:
    """Return the sum over steps and sequences of right (T, N, k) times left (T, N, m): (k, m)."""
    a, da, b, db = (
        part.reshape(-1, part.shape[-1])
        for part in (left.value, left.multiplied, right.value, right.multiplied)
    )
    value = b.T @ a
    wander = np.sqrt((b**2).T @ a**2)
    own = allowed(left.precision, len(a), wander, np.abs(value))
    carried = np.sqrt((b**2).T @ da**2 + (db**2).T @ a**2)
    return Bounded(value, own + carried, left.precision)
