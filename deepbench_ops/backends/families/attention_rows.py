"""Rows of attention in float64: probabilities, outputs, and how far a correct kernel may be off.

Errors of single scores have many sources (sums, roundings, the library's exponential) and random
signs, so that a sum over keys carries the root of the sum of their squares. Each source is counted
by its largest error, about twice its standard deviation; SPREAD times the root covers the largest
of a million entries. docs/reference/method_modern.md has the derivation.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deepbench_ops.backends.families.propagated_errors import MULTIPLIER
from deepbench_ops.backends.tolerance import LIBRARY, SMALLEST, UNIT_ROUNDOFF, accumulated

SPREAD = 4.0
"""How many times the root of the sum of squared errors a sum may be off."""


@dataclass(frozen=True)
class Rows:
    """Some queries of one head with all keys and values of it, float64.

    q: r x d; k: n x d; v: n x dv; seen: r x n truth values; scale: factor of q·kᵀ.
    """

    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    seen: np.ndarray
    scale: float
    precision: str

    @property
    def u(self) -> float:
        """Relative error of a stored number."""
        return UNIT_ROUNDOFF[self.precision]

    @property
    def u_multiplied(self) -> float:
        """Relative error of a probability, or of its gradient, as an operand of a product."""
        return max(self.u, MULTIPLIER.get(self.precision, 0.0))

    @cached_property
    def scores(self) -> np.ndarray:
        """r x n, minus infinity where not seen."""
        return np.where(self.seen, self.scale * (self.q @ self.k.T), -np.inf)

    @cached_property
    def p(self) -> np.ndarray:
        """Probabilities, r x n."""
        powers = np.exp(self.scores - self.scores.max(1, keepdims=True))
        return np.asarray(powers / powers.sum(1, keepdims=True))

    @cached_property
    def relative(self) -> np.ndarray:
        """Relative error of each power exp(score - largest): r x n.

        The score's own: its sum of d products; q and k scaled by the root of the scale and rounded
        before they are multiplied; the score stored. Then that of the exponential.
        """
        wander = self.scale * np.sqrt(self.q**2 @ (self.k**2).T)
        size = np.where(self.seen, np.abs(self.scores), 0.0)
        below = np.where(self.seen, self.scores.max(1, keepdims=True) - self.scores, 0.0)
        own = (self.summed(self.q.shape[1]) + 2 * self.u) * wander + self.u * size
        return np.asarray(own + 2.0**-23 * (size + below) + LIBRARY)

    @cached_property
    def o(self) -> np.ndarray:
        """Outputs, r x dv."""
        return self.p @ self.v

    @cached_property
    def o_error(self) -> np.ndarray:
        """Error allowed of the outputs, r x dv.

        Errors of the powers enter numerator and denominator: p (v - o) of each. Probabilities may
        be rounded before the product with v. The sums, the quotient and the output round as well.
        """
        errors, squares = (self.p * self.relative) ** 2, self.p**2
        value_squares = self.v**2
        spread = errors @ value_squares - 2 * self.o * (errors @ self.v)
        spread += self.o**2 * errors.sum(1, keepdims=True)
        rounded = squares @ value_squares
        carried = np.sqrt(np.maximum(spread, 0) + self.u_multiplied**2 * rounded)
        sums = self.summed(self.v.shape[0]) * (np.sqrt(rounded) + np.abs(self.o))
        return np.asarray(
            SPREAD * carried + sums + (LIBRARY + self.u) * np.abs(self.o) + SMALLEST[self.precision]
        )

    def summed(self, terms: int) -> float:
        """Error of a sum of so many terms as a part of its wander."""
        return accumulated(self.precision, terms)


@dataclass(frozen=True)
class BackwardRows:
    """The same rows with the gradients of their outputs, `gradient`: r x dv."""

    rows: Rows
    gradient: np.ndarray

    @cached_property
    def p_error(self) -> np.ndarray:
        """Error of the probabilities, those of a whole row included: r x n.

        They are stored, or made again from the logarithm of the row's sum.
        """
        rows, p = self.rows, self.rows.p
        of_row = SPREAD * np.sqrt(((p * rows.relative) ** 2).sum(1, keepdims=True))
        of_row += rows.summed(p.shape[1]) + LIBRARY
        return np.asarray(p * (rows.relative + of_row + rows.u_multiplied))

    @cached_property
    def ds(self) -> np.ndarray:
        """Gradients of the scores, p (dp - D) with D the sum of do·o: r x n."""
        dp = self.gradient @ self.rows.v.T
        return np.asarray(self.rows.p * (dp - (self.gradient * self.rows.o).sum(1, keepdims=True)))

    @cached_property
    def ds_error(self) -> np.ndarray:
        """Error of the gradients of the scores, that of D left out: r x n."""
        rows = self.rows
        dp = self.gradient @ rows.v.T
        terms = rows.v.shape[1]
        wander = np.sqrt(self.gradient**2 @ (rows.v**2).T)
        dp_error = rows.summed(terms) * wander + rows.u * np.abs(dp)
        with np.errstate(divide="ignore", invalid="ignore"):
            of_p = np.where(rows.p > 0, self.p_error / rows.p, 0.0) * np.abs(self.ds)
        return np.asarray(of_p + rows.p * dp_error + rows.u_multiplied * np.abs(self.ds))

    @cached_property
    def d_error(self) -> np.ndarray:
        """Error of D, which all keys of a row share: r x 1. The output may have been stored."""
        rows = self.rows
        carried = np.sqrt(((self.gradient * rows.o_error) ** 2).sum(1, keepdims=True))
        wander = np.sqrt(((self.gradient * rows.o) ** 2).sum(1, keepdims=True))
        return np.asarray(SPREAD * carried + rows.summed(rows.v.shape[1]) * wander)

    def dq(self) -> tuple[np.ndarray, np.ndarray]:
        """Gradients of the queries and the error allowed: r x d each."""
        rows = self.rows
        value, squares = rows.scale * (self.ds @ rows.k), rows.k**2
        carried = SPREAD * np.sqrt(self.ds_error**2 @ squares)
        carried += self.d_error * np.abs(rows.p @ rows.k)
        sums = rows.summed(rows.k.shape[0]) * np.sqrt(self.ds**2 @ squares)
        stored = 2 * rows.u * np.abs(value)
        return value, rows.scale * (carried + sums) + stored + SMALLEST[rows.precision]
