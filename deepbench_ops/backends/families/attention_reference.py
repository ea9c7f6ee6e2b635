"""Reference of attention in float64: outputs and gradients with the errors allowed at each entry.

`Rows` and `BackwardRows` compute values and allowed errors of some queries of one head, with all or
some of its keys. The classes below them use these for any entries of an output. `RowSums` holds the
sums over all keys of a row, which its gradients need.

Errors of single scores have many sources (sums, roundings, the library's exponential) and random
signs. The error of a sum over keys is therefore the root of the sum of their squares. Each source
counts with its largest error, about twice its standard deviation; SPREAD times the root covers the
largest error among a million entries. docs/reference/method_modern.md has the derivation.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np

from deepbench_ops.backends.families.propagated_errors import MULTIPLIER_ERROR
from deepbench_ops.backends.kernel import Index, widened
from deepbench_ops.backends.tolerance import (
    LIBRARY_ERROR,
    SMALLEST_NUMBER,
    UNIT_ROUNDOFF,
    accumulated,
)

SPREAD = 4.0
"""Allowed error of a sum, divided by the root of the sum of its terms' squared errors."""

PIECE = 2**21
"""Scores that are in memory at a time."""

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


@dataclass(frozen=True)
class HeadOperands:
    """The operands of all heads, and functions that select rows of one head in float64."""

    drawn: Any
    precision: str

    @property
    def problem(self) -> Any:
        """The problem with the sizes."""
        return self.drawn.problem

    def rows(
        self,
        batch: int,
        head: int,
        queries: np.ndarray,
        numbers: slice = slice(None),
        keys: Any = slice(None),
    ) -> Rows:
        """Return some queries of a query head, with the keys and values that it uses.

        numbers: slice of the dv numbers of each value. keys: those that are wanted, by number.
        """
        problem = self.problem
        kv = head // (problem.hq // problem.hkv)
        first = problem.skv - problem.sq
        wanted = np.arange(problem.skv)[keys]
        seen = np.broadcast_to(True, (len(queries), len(wanted)))
        if problem.causal:
            seen = wanted[None, :] <= queries[:, None] + first
        return Rows(
            widened(self.drawn.q[batch, head, queries]),
            widened(self.drawn.k[batch, kv][keys]),
            widened(self.drawn.v[batch, kv][keys, numbers]),
            seen,
            problem.d**-0.5,
            self.precision,
        )

    def pieces(self) -> Iterator[np.ndarray]:
        """Yield the numbers of all queries in arrays that need about PIECE scores each."""
        step = max(1, PIECE // self.problem.skv)
        for start in range(0, self.problem.sq, step):
            yield np.arange(start, min(start + step, self.problem.sq))


class QueryReference(HeadOperands, ABC):
    """Reference of an output with the axes (batch, query head, query, number)."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Length of the last axis."""

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Shape of the output."""
        return (self.problem.b, self.problem.hq, self.problem.sq, self.size)

    @abstractmethod
    def at_queries(self, batch: int, head: int, queries: np.ndarray) -> Expectation:
        """Return (expected, allowed) of some queries of a head, queries x size each."""

    def everywhere(self) -> Expectation:
        """Return (expected, allowed); for small problems."""
        expected, allowed = np.empty(self.shape), np.empty(self.shape)
        for batch, head in np.ndindex(self.problem.b, self.problem.hq):
            for queries in self.pieces():
                found = self.at_queries(batch, head, queries)
                expected[batch, head, queries], allowed[batch, head, queries] = found
        return expected, allowed

    def at(self, index: Index) -> Expectation:
        """Return (expected, allowed) at some entries."""
        expected, allowed = np.array([self.entry(*each) for each in zip(*index, strict=True)]).T
        return expected, allowed

    def entry(self, batch: int, head: int, query: int, number: int) -> tuple[float, float]:
        """Return (expected, allowed) of one entry."""
        expected, allowed = self.at_queries(batch, head, np.array([query]))
        return expected[0, number], allowed[0, number]


class OutputReference(QueryReference):
    """Reference of the output o."""

    @property
    def size(self) -> int:
        """Length of the last axis, dv."""
        return int(self.problem.dv)

    def at_queries(self, batch: int, head: int, queries: np.ndarray) -> Expectation:
        """Return o and its allowed error."""
        rows = self.rows(batch, head, queries)
        return rows.o, rows.o_error

    def entry(self, batch: int, head: int, query: int, number: int) -> tuple[float, float]:
        """Return (expected, allowed) of one entry, from column `number` of the values."""
        rows = self.rows(batch, head, np.array([query]), slice(number, number + 1))
        return rows.o[0, 0], rows.o_error[0, 0]


class QueryGradientReference(QueryReference):
    """Reference of the gradient of q."""

    @property
    def size(self) -> int:
        """Length of the last axis, d."""
        return int(self.problem.d)

    def at_queries(self, batch: int, head: int, queries: np.ndarray) -> Expectation:
        """Return the gradient of some queries of a head and its allowed error."""
        gradient = widened(self.drawn.gradient[batch, head, queries])
        rows = self.rows(batch, head, queries)
        return BackwardRows(rows, gradient, RowSums.of(rows, gradient)).dq()


@dataclass(frozen=True)
class HeadSums(HeadOperands):
    """Sums of the rows of whole heads, each computed at its first use and kept."""

    found: dict[tuple[int, int], RowSums] = field(default_factory=dict)

    def of(self, batch: int, head: int) -> RowSums:
        """Return the sums of all queries of a query head."""
        if (batch, head) not in self.found:
            parts = [
                RowSums.of(
                    self.rows(batch, head, queries),
                    widened(self.drawn.gradient[batch, head, queries]),
                )
                for queries in self.pieces()
            ]
            self.found[batch, head] = RowSums.joined(parts)
        return self.found[batch, head]


@dataclass(frozen=True)
class KeyGradientReference(HeadOperands):
    """Reference of the gradient of k or v, with the axes (batch, head of keys, key, number).

    The gradient of a key is a sum over all queries of all query heads that use the key. Only the
    keys asked for are computed, from the sums of these queries over all keys, which the gradients
    of k and v share. of_values: True for the gradient of v.
    """

    of_values: bool
    sums: HeadSums

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Shape of the output."""
        size = self.problem.dv if self.of_values else self.problem.d
        return (self.problem.b, self.problem.hkv, self.problem.skv, size)

    @property
    def entry_terms(self) -> int:
        """Products that one entry takes: the scores of all queries that use its head of keys."""
        problem = self.problem
        return int(problem.hq // problem.hkv * problem.sq * problem.skv * problem.d)

    def everywhere(self) -> Expectation:
        """Return (expected, allowed); for small problems."""
        expected, allowed = np.empty(self.shape), np.empty(self.shape)
        every = np.arange(self.problem.skv)
        for batch, kv in np.ndindex(self.problem.b, self.problem.hkv):
            expected[batch, kv], allowed[batch, kv] = self._keys(batch, kv, every)
        return expected, allowed

    def at(self, index: Index) -> Expectation:
        """Return (expected, allowed) at some entries."""
        batches, heads, keys, numbers = index
        expected, allowed = np.empty(len(keys)), np.empty(len(keys))
        for batch, kv in dict.fromkeys(zip(batches, heads, strict=True)):
            (here,) = np.nonzero((batches == batch) & (heads == kv))
            found = self._keys(batch, kv, keys[here])
            places = (np.arange(len(here)), numbers[here])
            expected[here], allowed[here] = (each[places] for each in found)
        return expected, allowed

    def _keys(self, batch: int, kv: int, keys: np.ndarray) -> Expectation:
        """Return (expected, allowed) of the gradients of some keys of a head, keys x size each."""
        group = self.problem.hq // self.problem.hkv
        sums = KeyGradientSums.of(len(keys), self.shape[-1])
        for head in range(kv * group, (kv + 1) * group):
            whole = np.zeros_like(sums.value)
            for queries in self.pieces():
                gradient = widened(self.drawn.gradient[batch, head, queries])
                rows = self.rows(batch, head, queries, keys=keys)
                back = BackwardRows(rows, gradient, self.sums.of(batch, head)[queries])
                sums.add(whole, back, self.of_values)
            sums.stored += np.abs(whole)
            sums.value += whole
        terms = group * self.problem.sq
        return sums.value, sums.allowed(terms, self.precision)


@dataclass
class KeyGradientSums:
    """Sums over queries, for the gradients of some keys; all arrays are keys x size.

    value: the gradients. errors: squared errors of the terms. squares: squared terms. stored:
    magnitudes of the parts that each query head may store.
    """

    value: np.ndarray
    errors: np.ndarray
    squares: np.ndarray
    stored: np.ndarray

    @classmethod
    def of(cls, keys: int, size: int) -> "KeyGradientSums":
        """Return sums of zero."""
        return cls(*(np.zeros((keys, size)) for _ in range(4)))

    def add(self, whole: np.ndarray, back: BackwardRows, of_values: bool) -> None:
        """Add the queries of some rows to the sums, and to `whole`, the gradient of their query
        head alone."""
        rows = back.rows
        if of_values:
            left, error, right, scale = back.p, back.p_error, back.gradient, 1.0
        else:
            error = np.sqrt(back.ds_error**2 + (back.p * back.sums.d_error) ** 2)
            left, right, scale = back.ds, rows.q, rows.scale
        squares = right**2
        whole += scale * (left.T @ right)
        self.errors += scale**2 * ((error**2).T @ squares)
        self.squares += scale**2 * ((left**2).T @ squares)

    def allowed(self, terms: int, precision: str) -> np.ndarray:
        """Return the allowed error of the sums, keys x size.

        A kernel may store the gradient of each query head before it adds those of a group.
        """
        own = accumulated(precision, terms) * np.sqrt(self.squares)
        stored = UNIT_ROUNDOFF[precision] * (self.stored + np.abs(self.value))
        return np.asarray(SPREAD * np.sqrt(self.errors) + own + stored + SMALLEST_NUMBER[precision])
