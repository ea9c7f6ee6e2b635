"""Float64 arrays with the largest error that a correct kernel may have at each entry.

A kernel rounds many times between its operands and its output: a step of a recurrent layer rounds a
dozen times, and the next step starts from the result. Each operation here returns the value and an
allowed error, which is the error carried over from its operands plus that of its own rounding. So
the tolerance of a whole recurrence is computed, not guessed.

Along a chain of elementwise operations errors add up. In a sum of many terms they grow like a sum
of numbers with random signs, as in `tolerance.allowed`. The largest error of a single rounding is
about two of its standard deviations, which would be too tight there, so it is counted twice.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deepbench_ops.backends.tolerance import LIBRARY_ERROR, SMALLEST_NUMBER, UNIT_ROUNDOFF, allowed

MULTIPLIER_ERROR = {"tf32": 2.0**-11}
"""Relative error, by precision, of a float32 operand in hardware that multiplies fewer bits."""


@dataclass(frozen=True)
class Bounded:
    """A float64 array and the error allowed at each entry, in the precision of the kernel."""

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
        """1 / (1 + exp(-x)); the error also covers kernels that compute it from tanh(x/2)."""
        value = 0.5 + 0.5 * np.tanh(0.5 * self.value)
        rounded = UNIT_ROUNDOFF[self.precision] * np.abs(value - 0.5) + LIBRARY_ERROR
        return self._stored(value, value * (1 - value) * self.error + self.error**2 + rounded)

    def tanh(self) -> "Bounded":
        """Hyperbolic tangent of each number."""
        value = np.tanh(self.value)
        library = LIBRARY_ERROR * np.abs(value)
        return self._stored(value, (1 - value**2) * self.error + self.error**2 + library)

    def off_by(self, error: float | np.ndarray) -> "Bounded":
        """The same numbers with a further absolute error, of a function that is approximated; one
        for all, or one for each."""
        return Bounded(self.value, self.error + error, self.precision)

    def __truediv__(self, other: "Bounded") -> "Bounded":
        least = np.abs(other.value) - other.error
        value = self.value / other.value
        carried = (self.error + np.abs(value) * other.error) / np.maximum(
            least, np.finfo(float).tiny
        )
        return self._stored(value, carried + LIBRARY_ERROR * np.abs(value))

    def exp(self) -> "Bounded":
        """e to the power of each number.

        A library may compute 2 to the power of x·log2(e), with the product in float32. This is an
        error of 2 u |x| in the exponent, where u is the rounding error of float32.
        """
        value = np.exp(self.value)
        exponent = self.error + 2.0**-23 * np.abs(self.value)
        return self._stored(value, value * (np.expm1(exponent) + LIBRARY_ERROR))

    def log(self) -> "Bounded":
        """Natural logarithm of each number, all above zero."""
        value = np.log(self.value)
        least = np.maximum(self.value - self.error, np.finfo(float).tiny)
        return self._stored(
            value, self.error / least + LIBRARY_ERROR * np.maximum(np.abs(value), 1)
        )

    def inverse_root(self) -> "Bounded":
        """1 / sqrt(x) of each number, all above zero."""
        value = 1 / np.sqrt(self.value)
        least = np.maximum(self.value - self.error, np.finfo(float).tiny)
        return self._stored(value, value * (0.5 * self.error / least + LIBRARY_ERROR))

    def sum(self, axis: int = -1) -> "Bounded":
        """Sums along an axis, which keeps the length 1.

        No partial sum is larger than the sum of the magnitudes. Errors of the terms add up like
        numbers with random signs, as in a product.
        """
        value = self.value.sum(axis, keepdims=True)
        wander = np.abs(self.value).sum(axis, keepdims=True)
        terms = self.value.shape[axis]
        own = allowed(self.precision, terms, wander, np.abs(value))
        return Bounded(
            value, own + np.sqrt((self.multiplied**2).sum(axis, keepdims=True)), self.precision
        )

    def mean(self, axis: int = -1) -> "Bounded":
        """Means along an axis, which keeps the length 1."""
        total, count = self.sum(axis), self.value.shape[axis]
        return self._stored(total.value / count, total.error / count)

    def rounded_to(self, precision: str) -> "Bounded":
        """The numbers stored in another precision, which is that of further operations."""
        return Bounded(self.value, self.error, precision)._stored(self.value, self.error)

    def relu(self) -> "Bounded":
        """The larger of each number and 0."""
        return Bounded(np.maximum(self.value, 0), self.error, self.precision)

    def positive(self) -> "Bounded":
        """1 for each number above zero, else 0: the slope of a ReLU. For exact values only."""
        return exact((self.value > 0).astype(np.float64), self.precision)

    def slope_of_tanh(self) -> "Bounded":
        """Slope 1 - y² of tanh, from its value y."""
        squared = self * self
        return self._stored(1 - squared.value, squared.error)

    def product(self, weights: np.ndarray, added: np.ndarray) -> "Bounded":
        """Matrix product of the rows with exact `weights` (terms x columns).

        added: operand that a kernel may add to the sum before it rounds; it widens the allowed
        error and is not part of the value.
        """
        return self.product_of_pieces([weights], added)

    def product_of_pieces(self, pieces: Iterable[np.ndarray], added: np.ndarray) -> "Bounded":
        """As `product` with the rows of all pieces below each other, which are taken one by one."""
        value, squares, carried = (np.zeros(1) for _ in range(3))
        errors, terms = self.multiplied**2, 0
        for weights in pieces:
            own = np.s_[..., terms : terms + len(weights)]
            terms += len(weights)
            squared = weights**2
            value = value + self.value[own] @ weights
            squares = squares + self.value[own] ** 2 @ squared
            if errors.any():
                carried = carried + errors[own] @ squared
        return self._summed(value, squares, carried, terms, added)

    def dot(self, weights: np.ndarray, added: np.ndarray) -> "Bounded":
        """As `product`, but each row has its own vectors in `weights`.

        Rows are (entries, terms), weights (entries, vectors, terms); the result is (entries,
        vectors).
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
        """Error of each number as a factor in a product of many terms."""
        size = np.abs(self.value)
        stored = np.where(self.error > 0, UNIT_ROUNDOFF[self.precision] * size, 0.0)
        return self.error + stored + 2 * MULTIPLIER_ERROR.get(self.precision, 0.0) * size

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
        rounding = UNIT_ROUNDOFF[self.precision] * np.abs(value) + SMALLEST_NUMBER[self.precision]
        return Bounded(value, error + rounding, self.precision)


def exact(values: np.ndarray, precision: str) -> Bounded:
    """Return values without error: operands of a kernel, or numbers read from its own outputs."""
    wide = np.asarray(values, dtype=np.float64)
    return Bounded(wide, np.zeros_like(wide), precision)


def stacked(parts: list[Bounded]) -> Bounded:
    """Return the parts stacked along a new first axis."""
    values = np.stack([part.value for part in parts])
    return Bounded(values, np.stack([part.error for part in parts]), parts[0].precision)


def joined(parts: Sequence[Bounded], axis: int = 0) -> Bounded:
    """Return the parts concatenated along an axis."""
    values, errors = (
        np.concatenate([getattr(part, name) for part in parts], axis) for name in ("value", "error")
    )
    return Bounded(values, errors, parts[0].precision)


def chosen(where: np.ndarray, one: Bounded, other: Bounded) -> Bounded:
    """Return `one` where the condition holds, `other` elsewhere."""
    value = np.where(where, one.value, other.value)
    return Bounded(value, np.where(where, one.error, other.error), one.precision)


def summed(left: Bounded, right: Bounded) -> Bounded:
    """Return the products right·left summed over all axes but the last, (k, m).

    left: (..., m), such as steps x sequences x m; right: (..., k).
    """
    a, da, b, db = (
        part.reshape(-1, part.shape[-1])
        for part in (left.value, left.multiplied, right.value, right.multiplied)
    )
    value = b.T @ a
    wander = np.sqrt((b**2).T @ a**2)
    own = allowed(left.precision, len(a), wander, np.abs(value))
    carried = np.sqrt((b**2).T @ da**2 + (db**2).T @ a**2)
    return Bounded(value, own + carried, left.precision)
