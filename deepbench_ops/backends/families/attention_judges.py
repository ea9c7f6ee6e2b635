"""Judges of the output of attention, and of the gradients of queries, keys and values."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from deepbench_ops.backends.families.attention_rows import SPREAD, BackwardRows, Rows
from deepbench_ops.backends.kernel import Index, widened
from deepbench_ops.backends.tolerance import SMALLEST, UNIT_ROUNDOFF, accumulated

PIECE = 2**21
"""Scores that are held at a time."""

Judged = tuple[np.ndarray, np.ndarray]
"""Expected values, and the error allowed."""


@dataclass(frozen=True)
class Heads:
    """The operands of all heads, and rows of one of them in float64."""

    drawn: Any
    precision: str

    @property
    def problem(self) -> Any:
        """Its sizes."""
        return self.drawn.problem

    def rows(self, batch: int, head: int, queries: np.ndarray) -> Rows:
        """Return some queries of a head, with all keys and values that belong to it."""
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
            widened(self.drawn.v[batch, kv]),
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
    """A judge of an array with the axes (batch, query head, query, number)."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Numbers of each query."""

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Of the output."""
        return (self.problem.b, self.problem.hq, self.problem.sq, self.size)

    @abstractmethod
    def judge(self, batch: int, head: int, queries: np.ndarray) -> Judged:
        """Return expected values and errors of some queries of a head."""

    def everywhere(self) -> Judged:
        """Return (expected, allowed); for small problems."""
        expected, allowed = np.empty(self.shape), np.empty(self.shape)
        for batch, head in np.ndindex(self.problem.b, self.problem.hq):
            for queries in self.pieces():
                found = self.judge(batch, head, queries)
                expected[batch, head, queries], allowed[batch, head, queries] = found
        return expected, allowed

    def at(self, index: Index) -> Judged:
        """Return (expected, allowed) at some entries."""
        found = [
            [each[0, number] for each in self.judge(batch, head, np.array([query]))]
            for batch, head, query, number in zip(*index, strict=True)
        ]
        expected, allowed = np.array(found).T
        return expected, allowed


class Output(ByQuery):
    """The judge of o."""

    @property
    def size(self) -> int:
        """Numbers of each query."""
        return int(self.problem.dv)

    def judge(self, batch: int, head: int, queries: np.ndarray) -> Judged:
        """Return o and its error."""
        rows = self.rows(batch, head, queries)
        return rows.o, rows.o_error


class QueryGradient(ByQuery):
    """The judge of the gradient of q."""

    @property
    def size(self) -> int:
        """Numbers of each query."""
        return int(self.problem.d)

    def judge(self, batch: int, head: int, queries: np.ndarray) -> Judged:
        """Return dq and its error."""
        gradient = widened(self.drawn.gradient[batch, head, queries])
        return BackwardRows(self.rows(batch, head, queries), gradient).dq()


@dataclass(frozen=True)
class KeyGradient(Heads):
    """The judge of the gradient of k, or of v: (batch, head of keys, key, number).

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
                back = BackwardRows(self.rows(batch, head, queries), gradient)
                sums.add(whole, back, keys, self.of_values)
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

    def add(self, whole: np.ndarray, back: BackwardRows, keys: np.ndarray, of_values: bool) -> None:
        """Add the queries of some rows to the sums, and to `whole`, those of their head alone."""
        rows = back.rows
        if of_values:
            left, error, right, scale = rows.p, back.p_error, back.gradient, 1.0
        else:
            error = np.sqrt(back.ds_error**2 + (rows.p * back.d_error) ** 2)
            left, right, scale = back.ds, rows.q, rows.scale
        left, error, squares = left[:, keys], error[:, keys], right**2
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
