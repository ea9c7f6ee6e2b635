"""Operands of ranks: exact sums in any order, predictable, and every mistake visible."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deepbench_ops.distributed import initial_vectors as drawn
from deepbench_ops.distributed.initial_vectors import PERIOD
from deepbench_ops.distributed.rank_contents import Contents

ELEMENTS = 2 * PERIOD + 1000
pattern_of = partial(Contents, "all_reduce")
SIZES = st.sampled_from([2, 3, 4, 5, 8, 16, 32])


def vectors(pattern):
    """Every rank's vector."""
    filled = np.empty((pattern.ranks, pattern.elements), np.float32)
    for rank, values in enumerate(filled):
        pattern.fill(values, rank)
    return filled


@settings(max_examples=20)
@given(ranks=SIZES, seed=st.integers(0, 99), order=st.randoms())
def test_sums_are_exact_in_any_order(ranks, seed, order):
    """float32 additions in whatever order give exactly the sum that is predicted."""
    pattern = pattern_of(ELEMENTS, ranks, seed=seed)
    ways = list(vectors(pattern))
    order.shuffle(ways)
    total = ways[0]
    for values in ways[1:]:
        total = total + values
    assert total.dtype == np.float32
    assert pattern.mismatch(total) is None
    entries = np.array([0, 1, PERIOD - 1, PERIOD, ELEMENTS - 1])
    np.testing.assert_array_equal(pattern.at(entries), total[entries])


@given(ranks=SIZES, elements=st.integers(1, 3 * PERIOD))
@settings(max_examples=20)
def test_no_rank_puts_in_a_zero(ranks, elements):
    """Every entry is random or a block's number: sums over zeros may run faster than others."""
    assert np.all(vectors(pattern_of(elements, ranks)) != 0)


def test_ranks_put_in_different_vectors():
    """No two ranks share their random entries, so that no rank can stand in for another."""
    filled = vectors(pattern_of(PERIOD, 8))
    assert 8 == len({values[1:].tobytes() for values in filled})


@pytest.mark.parametrize("ranks", [2, 3, 5, 32])
def test_repeated_sums_stay_finite_and_known(ranks):
    """As many sums in a row as are allowed neither overflow nor leave the predicted range."""
    pattern = pattern_of(PERIOD, ranks)
    total = np.zeros(PERIOD, np.float32)
    for values in vectors(pattern):
        total += values
    for calls in range(1, pattern.most_calls + 1):
        assert pattern.mismatch(total, calls) is None
        one = total.copy()
        with np.errstate(over="ignore"):
            for _ in range(ranks - 1):
                total += one
    assert pattern.most_calls > 20


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 0.0])
@pytest.mark.parametrize("entry", [0, 7, PERIOD, ELEMENTS - 1])
def test_a_wrong_entry_is_found(entry, value):
    """A single entry that is not finite, or not the sum, is named with both values."""
    pattern = pattern_of(ELEMENTS, 3)
    total = vectors(pattern).sum(axis=0, dtype=np.float64).astype(np.float32)
    right = float(total[entry])
    total[entry] = value
    found = pattern.mismatch(total)
    assert (entry, right) == (found.entry, found.expected)
    np.testing.assert_equal(value, found.actual)


def test_the_smallest_slip_is_found():
    """An entry one unit in the last place off is wrong."""
    pattern = pattern_of(1000, 4)
    total = vectors(pattern).sum(axis=0, dtype=np.float64).astype(np.float32)
    total[500] = np.nextafter(total[500], np.float32(1))
    assert 500 == pattern.mismatch(total).entry


def test_blocks_in_the_wrong_order_are_found():
    """Two whole blocks exchanged, alike but for their numbers, are a wrong result."""
    pattern = pattern_of(2 * PERIOD, 2)
    total = vectors(pattern).sum(axis=0, dtype=np.float64).astype(np.float32)
    assert pattern.mismatch(total) is None
    assert 0 == pattern.mismatch(np.roll(total, PERIOD)).entry


def test_a_missing_rank_is_found():
    """The sum without one of the ranks is wrong."""
    pattern = pattern_of(1000, 5)
    assert pattern.mismatch(vectors(pattern)[:4].sum(axis=0)) is not None


def test_the_sum_of_all_blocks_is_drawn_once(monkeypatch):
    """Ranks forked by one process share the operands of all; none draws them again."""
    first = pattern_of(ELEMENTS, 16, seed=5)
    entries = np.arange(1, PERIOD)
    expected = first.at(entries)
    monkeypatch.setattr(drawn, "random_bits", None)
    again = pattern_of(PERIOD, 16, seed=5)
    np.testing.assert_array_equal(expected, again.at(entries))
