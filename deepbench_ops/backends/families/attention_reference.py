"""References of attention in float64: any entries of its output and gradients, by their rows."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from deepbench_ops.backends.families.attention_rows import (
    SPREAD,
    BackwardRows,
    Expectation,
    Rows,
    RowSums,
)
from deepbench_ops.backends.kernel import Index, widened
from deepbench_ops.backends.tolerance import (
    SMALLEST_NUMBER,
    UNIT_ROUNDOFF,
    accumulated,
)

PIECE = 2**21
"""Scores that are in memory at a time."""


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
