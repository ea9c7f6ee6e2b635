"""Rows of attention in float64: outputs and gradients with the errors allowed at each entry.

`Rows` and `BackwardRows` have some queries of one head, with all or some of its keys. `RowSums`
holds the sums over all keys of a row, which its gradients need.

Errors of single scores have many sources (sums, roundings, the library's exponential) and random
signs. The error of a sum over keys is therefore the root of the sum of their squares. Each source
counts with its largest error, about twice its standard deviation; SPREAD times the root covers the
largest error among a million entries. docs/reference/method_modern.md has the derivation.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from deepbench_ops.backends.families.propagated_errors import MULTIPLIER_ERROR
from deepbench_ops.backends.tolerance import (
    LIBRARY_ERROR,
    SMALLEST_NUMBER,
    UNIT_ROUNDOFF,
    accumulated,
)

SPREAD = 4.0
"""Allowed error of a sum, divided by the root of the sum of its terms' squared errors."""

Expectation = tuple[np.ndarray, np.ndarray]
"""Expected values, and the error allowed at each."""


@dataclass(frozen=True)
class Rows:
    """Some queries of one head with n of its keys and their values, in float64.

    Probabilities, outputs and errors are those of all keys only where the rows have all of them.

    q: r x d; k: n x d; v: n x dv; seen: r x n booleans, True where a query sees a key; scale:
    factor of q·kᵀ; precision: that of the kernel.
    """

    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    seen: np.ndarray
    scale: float
    precision: str

    @property
    def u(self) -> float:
        """Relative error of a number that is stored in the kernel's precision."""
        return UNIT_ROUNDOFF[self.precision]

    @property
    def u_multiplied(self) -> float:
        """Relative error of a probability, or of its gradient, as a factor in a matrix product."""
        return max(self.u, MULTIPLIER_ERROR.get(self.precision, 0.0))

    @cached_property
    def scores(self) -> np.ndarray:
        """Scores, r x n: scale·q·kᵀ, minus infinity where a query does not see a key."""
        return np.where(self.seen, self.scale * (self.q @ self.k.T), -np.inf)

    @cached_property
    def largest(self) -> np.ndarray:
        """Largest score of each row, r x 1."""
        return np.asarray(self.scores.max(1, keepdims=True))

    @cached_property
    def powers(self) -> np.ndarray:
        """Powers exp(score - largest score), r x n."""
        return np.exp(self.scores - self.largest)

    @cached_property
    def p(self) -> np.ndarray:
        """Probabilities, r x n."""
        return np.asarray(self.powers / self.powers.sum(1, keepdims=True))

    @cached_property
    def relative(self) -> np.ndarray:
        """Relative error of each power, r x n."""
        return self.relative_to(self.largest)

    def relative_to(self, largest: np.ndarray) -> np.ndarray:
        """Return the relative error of each power exp(score - largest), r x n; largest: r x 1.

        It adds up the errors of the sum of d products, of q and k, which may be scaled by the root
        of the scale and rounded before they are multiplied, of the stored score, and of the
        exponential.
        """
        wander = self.scale * np.sqrt(self.q**2 @ (self.k**2).T)
        size = np.where(self.seen, np.abs(self.scores), 0.0)
        below = np.where(self.seen, largest - self.scores, 0.0)
        own = (self.summed(self.q.shape[1]) + 2 * self.u) * wander + self.u * size
        return np.asarray(own + 2.0**-23 * (size + below) + LIBRARY_ERROR)

    @cached_property
    def squared_errors(self) -> np.ndarray:
        """Squares of the errors of the powers, relative to the sum of their row, r x n."""
        return np.asarray((self.p * self.relative) ** 2)

    @cached_property
    def o(self) -> np.ndarray:
        """Outputs, r x dv."""
        return self.p @ self.v

    @cached_property
    def o_error(self) -> np.ndarray:
        """Allowed error of the outputs, r x dv.

        An error of a power appears in numerator and denominator and changes the output by
        p (v - o) times its relative error. Probabilities may be rounded before the product with v.
        The sums, the quotient and the output are rounded as well.
        """
        errors, squares = self.squared_errors, self.p**2
        value_squares = self.v**2
        spread = errors @ value_squares - 2 * self.o * (errors @ self.v)
        spread += self.o**2 * errors.sum(1, keepdims=True)
        rounded = squares @ value_squares
        carried = np.sqrt(np.maximum(spread, 0) + self.u_multiplied**2 * rounded)
        sums = self.summed(self.v.shape[0]) * (np.sqrt(rounded) + np.abs(self.o))
        return np.asarray(
            SPREAD * carried
            + sums
            + (LIBRARY_ERROR + self.u) * np.abs(self.o)
            + SMALLEST_NUMBER[self.precision]
        )

    def summed(self, terms: int) -> float:
        """Return the allowed error of a sum of `terms` products, divided by its wander."""
        return accumulated(self.precision, terms)


@dataclass(frozen=True)
class RowSums:
    """Sums over all keys of a row, which the gradients of its scores share: r x 1 each.

    largest: the largest score. total: the sum of the powers. error: relative error of that sum. d:
    the sum D of do·o; d_error: its allowed error, with that of an output o rounded when it was
    stored.
    """

    largest: np.ndarray
    total: np.ndarray
    error: np.ndarray
    d: np.ndarray
    d_error: np.ndarray

    @classmethod
    def of(cls, rows: Rows, gradient: np.ndarray) -> "RowSums":
        """Return the sums of rows that have all keys, with the gradient of their outputs."""
        error = SPREAD * np.sqrt(rows.squared_errors.sum(1, keepdims=True))
        error += rows.summed(rows.p.shape[1]) + LIBRARY_ERROR
        carried = np.sqrt(((gradient * rows.o_error) ** 2).sum(1, keepdims=True))
        wander = np.sqrt(((gradient * rows.o) ** 2).sum(1, keepdims=True))
        return cls(
            rows.largest,
            rows.powers.sum(1, keepdims=True),
            error,
            (gradient * rows.o).sum(1, keepdims=True),
            SPREAD * carried + rows.summed(rows.v.shape[1]) * wander,
        )

    def __getitem__(self, queries: np.ndarray) -> "RowSums":
        return RowSums(*(getattr(self, each.name)[queries] for each in fields(self)))

    @classmethod
    def joined(cls, parts: Sequence["RowSums"]) -> "RowSums":
        """Return the rows of all parts, one part after the other."""
        return cls(
            *(np.concatenate([getattr(one, each.name) for one in parts]) for each in fields(cls))
        )


@dataclass(frozen=True)
class BackwardRows:
    """Rows of m keys with the gradient of their outputs, r x dv, and their sums over all keys."""

    rows: Rows
    gradient: np.ndarray
    sums: RowSums

    @cached_property
    def p(self) -> np.ndarray:
        """Probabilities, r x m."""
        return np.asarray(np.exp(self.rows.scores - self.sums.largest) / self.sums.total)

    @cached_property
    def p_error(self) -> np.ndarray:
        """Allowed error of the probabilities, r x m, with the error of the sum of their row.

        A kernel may store the probabilities, or compute them again from the logarithm of the sum.
        """
        own = self.rows.relative_to(self.sums.largest)
        return np.asarray(self.p * (own + self.sums.error + self.rows.u_multiplied))

    @cached_property
    def dp(self) -> np.ndarray:
        """Gradients of the probabilities, r x m."""
        return self.gradient @ self.rows.v.T

    @cached_property
    def ds(self) -> np.ndarray:
        """Gradients of the scores, p (dp - D): r x m."""
        return np.asarray(self.p * (self.dp - self.sums.d))

    @cached_property
    def ds_error(self) -> np.ndarray:
        """Allowed error of the gradients of the scores, without that of D: r x m."""
        rows, p = self.rows, self.p
        wander = np.sqrt(self.gradient**2 @ (rows.v**2).T)
        dp_error = rows.summed(rows.v.shape[1]) * wander + rows.u * np.abs(self.dp)
        with np.errstate(divide="ignore", invalid="ignore"):
            of_p = np.where(p > 0, self.p_error / p, 0.0) * np.abs(self.ds)
        return np.asarray(of_p + p * dp_error + rows.u_multiplied * np.abs(self.ds))

    def dq(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the gradients of the queries and the error allowed, r x d each; for all keys."""
        rows = self.rows
        value, squares = rows.scale * (self.ds @ rows.k), rows.k**2
        carried = SPREAD * np.sqrt(self.ds_error**2 @ squares)
        carried += self.sums.d_error * np.abs(self.p @ rows.k)
        sums = rows.summed(rows.k.shape[0]) * np.sqrt(self.ds**2 @ squares)
        stored = 2 * rows.u * np.abs(value)
        return value, rows.scale * (carried + sums) + stored + SMALLEST_NUMBER[rows.precision]
