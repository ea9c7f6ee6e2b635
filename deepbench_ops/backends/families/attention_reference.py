"""Reference of attention in float64: outputs, gradients, and how far a correct kernel may be off.

`Rows` and `BackwardRows` are some queries of one head, with the values and the errors allowed; the
classes below them compute any entries of an output from these.

Errors of single scores have many sources (sums, roundings, the library's exponential) and random
signs, so that a sum over keys carries the root of the sum of their squares. Each source is counted
by its largest error, about twice its standard deviation; SPREAD times the root covers the largest
of a million entries. docs/reference/method_modern.md has the derivation.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from deepbench_ops.backends.families.propagated_errors import MULTIPLIER
from deepbench_ops.backends.kernel import Index, widened
from deepbench_ops.backends.tolerance import LIBRARY, SMALLEST, UNIT_ROUNDOFF, accumulated

SPREAD = 4.0
"""How many times the root of the sum of squared errors a sum may be off."""

PIECE = 2**21
"""Scores that are held at a time."""

Judged = tuple[np.ndarray, np.ndarray]
"""Expected values, and the error allowed."""


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
    """The same rows with the gradients of their outputs, `gradient`: r x dv.

    keys: numbers of the m keys that are asked for, all n unless given.
    """

    rows: Rows
    gradient: np.ndarray
    keys: Any = field(default_factory=lambda: slice(None))

    @cached_property
    def p(self) -> np.ndarray:
        """Probabilities, r x m."""
        return self.rows.p[:, self.keys]

    @cached_property
    def p_error(self) -> np.ndarray:
        """Error of the probabilities, those of a whole row included: r x m.

        They are stored, or made again from the logarithm of the row's sum.
        """
        rows = self.rows
        of_row = SPREAD * np.sqrt(((rows.p * rows.relative) ** 2).sum(1, keepdims=True))
        of_row += rows.summed(rows.p.shape[1]) + LIBRARY
        own = rows.relative[:, self.keys]
        return np.asarray(self.p * (own + of_row + rows.u_multiplied))

    @cached_property
    def ds(self) -> np.ndarray:
        """Gradients of the scores, p (dp - D) with D the sum of do·o: r x m."""
        dp = self.gradient @ self.rows.v[self.keys].T
        return np.asarray(self.p * (dp - (self.gradient * self.rows.o).sum(1, keepdims=True)))

    @cached_property
    def ds_error(self) -> np.ndarray:
        """Error of the gradients of the scores, that of D left out: r x m."""
        rows, p, values = self.rows, self.p, self.rows.v[self.keys]
        dp = self.gradient @ values.T
        wander = np.sqrt(self.gradient**2 @ (values**2).T)
        dp_error = rows.summed(values.shape[1]) * wander + rows.u * np.abs(dp)
        with np.errstate(divide="ignore", invalid="ignore"):
            of_p = np.where(p > 0, self.p_error / p, 0.0) * np.abs(self.ds)
        return np.asarray(of_p + p * dp_error + rows.u_multiplied * np.abs(self.ds))

    @cached_property
    def d_error(self) -> np.ndarray:
        """Error of D, which all keys of a row share: r x 1. The output may have been stored."""
        rows = self.rows
        carried = np.sqrt(((self.gradient * rows.o_error) ** 2).sum(1, keepdims=True))
        wander = np.sqrt(((self.gradient * rows.o) ** 2).sum(1, keepdims=True))
        return np.asarray(SPREAD * carried + rows.summed(rows.v.shape[1]) * wander)

    def dq(self) -> tuple[np.ndarray, np.ndarray]:
        """Gradients of the queries and the error allowed, r x d each: from all keys."""
        rows = self.rows
        value, squares = rows.scale * (self.ds @ rows.k), rows.k**2
        carried = SPREAD * np.sqrt(self.ds_error**2 @ squares)
        carried += self.d_error * np.abs(rows.p @ rows.k)
        sums = rows.summed(rows.k.shape[0]) * np.sqrt(self.ds**2 @ squares)
        stored = 2 * rows.u * np.abs(value)
        return value, rows.scale * (carried + sums) + stored + SMALLEST[rows.precision]


@dataclass(frozen=True)
class Heads:
    """The operands of all heads, and rows of one of them in float64."""

    drawn: Any
    precision: str

    @property
    def problem(self) -> Any:
        """Its sizes."""
        return self.drawn.problem

    def rows(
        self, batch: int, head: int, queries: np.ndarray, numbers: slice = slice(None)
    ) -> Rows:
        """Return some queries of a head, with all keys and values that belong to it.

        numbers: those of each value that are asked for.
        """
        problem = self.problem
        kv = head // (problem.hq // problem.hkv)
        first = problem.skv - problem.sq
        keys = np.arange(problem.skv)
        seen = np.broadcast_to(True, (len(queries), problem.skv))
        if problem.causal:
            seen = keys[None, :] <= queries[:, None] + first
        return Rows(
            widened(self.drawn.q[batch, head, queries]),
            widened(self.drawn.k[batch, kv]),
            widened(self.drawn.v[batch, kv][:, numbers]),
            seen,
            problem.d**-0.5,
            self.precision,
        )

    def pieces(self) -> Iterator[np.ndarray]:
        """Yield all queries, some at a time."""
        step = max(1, PIECE // self.problem.skv)
        for start in range(0, self.problem.sq, step):
            yield np.arange(start, min(start + step, self.problem.sq))


class ByQuery(Heads, ABC):
    """Reference of an array with the axes (batch, query head, query, number)."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Numbers of each query."""

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Of the output."""
        return (self.problem.b, self.problem.hq, self.problem.sq, self.size)

    @abstractmethod
    def at_queries(self, batch: int, head: int, queries: np.ndarray) -> Judged:
        """Return expected values and errors of some queries of a head."""

    def everywhere(self) -> Judged:
        """Return (expected, allowed); for small problems."""
        expected, allowed = np.empty(self.shape), np.empty(self.shape)
        for batch, head in np.ndindex(self.problem.b, self.problem.hq):
            for queries in self.pieces():
                found = self.at_queries(batch, head, queries)
                expected[batch, head, queries], allowed[batch, head, queries] = found
        return expected, allowed

    def at(self, index: Index) -> Judged:
        """Return (expected, allowed) at some entries."""
        expected, allowed = np.array([self.entry(*each) for each in zip(*index, strict=True)]).T
        return expected, allowed

    def entry(self, batch: int, head: int, query: int, number: int) -> tuple[float, float]:
        """Return (expected, allowed) of one entry."""
        expected, allowed = self.at_queries(batch, head, np.array([query]))
        return expected[0, number], allowed[0, number]


class OutputReference(ByQuery):
    """Reference of o."""

    @property
    def size(self) -> int:
        """Numbers of each query."""
        return int(self.problem.dv)

    def at_queries(self, batch: int, head: int, queries: np.ndarray) -> Judged:
        """Return o and its error."""
        rows = self.rows(batch, head, queries)
        return rows.o, rows.o_error

    def entry(self, batch: int, head: int, query: int, number: int) -> tuple[float, float]:
        """Return (expected, allowed) of one entry, from that number of all values."""
        rows = self.rows(batch, head, np.array([query]), slice(number, number + 1))
        return rows.o[0, 0], rows.o_error[0, 0]


class QueryGradientReference(ByQuery):
    """Reference of the gradient of q."""

    @property
    def size(self) -> int:
        """Numbers of each query."""
        return int(self.problem.d)

    def at_queries(self, batch: int, head: int, queries: np.ndarray) -> Judged:
        """Return dq and its error."""
        gradient = widened(self.drawn.gradient[batch, head, queries])
        return BackwardRows(self.rows(batch, head, queries), gradient).dq()


@dataclass(frozen=True)
class KeyGradientReference(Heads):
    """Reference of the gradient of k, or of v: (batch, head of keys, key, number).

    A key's gradient is a sum over all queries of all query heads that it belongs to, which are
    computed once for each head of keys that is asked for.
    """

    of_values: bool

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Of the output."""
        size = self.problem.dv if self.of_values else self.problem.d
        return (self.problem.b, self.problem.hkv, self.problem.skv, size)

    def everywhere(self) -> Judged:
        """Return (expected, allowed); for small problems."""
        expected, allowed = np.empty(self.shape), np.empty(self.shape)
        every = np.arange(self.problem.skv)
        for batch, kv in np.ndindex(self.problem.b, self.problem.hkv):
            expected[batch, kv], allowed[batch, kv] = self._keys(batch, kv, every)
        return expected, allowed

    def at(self, index: Index) -> Judged:
        """Return (expected, allowed) at some entries."""
        batches, heads, keys, numbers = index
        expected, allowed = np.empty(len(keys)), np.empty(len(keys))
        for batch, kv in dict.fromkeys(zip(batches, heads, strict=True)):
            (here,) = np.nonzero((batches == batch) & (heads == kv))
            found = self._keys(batch, kv, keys[here])
            places = (np.arange(len(here)), numbers[here])
            expected[here], allowed[here] = (each[places] for each in found)
        return expected, allowed

    def _keys(self, batch: int, kv: int, keys: np.ndarray) -> Judged:
        """Return the gradients of some keys of a head and the error allowed."""
        group = self.problem.hq // self.problem.hkv
        sums = Sums.of(len(keys), self.shape[-1])
        for head in range(kv * group, (kv + 1) * group):
            whole = np.zeros_like(sums.value)
            for queries in self.pieces():
                gradient = widened(self.drawn.gradient[batch, head, queries])
                back = BackwardRows(self.rows(batch, head, queries), gradient, keys)
                sums.add(whole, back, self.of_values)
            sums.stored += np.abs(whole)
            sums.value += whole
        terms = group * self.problem.sq
        return sums.value, sums.allowed(terms, self.precision)


@dataclass
class Sums:
    """Sums over queries for some keys: values, squared errors and terms, magnitudes stored."""

    value: np.ndarray
    errors: np.ndarray
    squares: np.ndarray
    stored: np.ndarray

    @classmethod
    def of(cls, keys: int, size: int) -> "Sums":
        """Return sums that are all zero."""
        return cls(*(np.zeros((keys, size)) for _ in range(4)))

    def add(self, whole: np.ndarray, back: BackwardRows, of_values: bool) -> None:
        """Add the queries of some rows to the sums, and to `whole`, those of their head alone."""
        rows = back.rows
        if of_values:
            left, error, right, scale = back.p, back.p_error, back.gradient, 1.0
        else:
            error = np.sqrt(back.ds_error**2 + (back.p * back.d_error) ** 2)
            left, right, scale = back.ds, rows.q, rows.scale
        squares = right**2
        whole += scale * (left.T @ right)
        self.errors += scale**2 * ((error**2).T @ squares)
        self.squares += scale**2 * ((left**2).T @ squares)

    def allowed(self, terms: int, precision: str) -> np.ndarray:
        """Return the error allowed of the sums.

        The gradient of each query head may be stored before those of a group are added.
        """
        own = accumulated(precision, terms) * np.sqrt(self.squares)
        stored = UNIT_ROUNDOFF[precision] * (self.stored + np.abs(self.value))
        return np.asarray(SPREAD * np.sqrt(self.errors) + own + stored + SMALLEST[precision])
