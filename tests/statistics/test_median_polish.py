"""Effects of columns in two-way tables: recovered under row disturbances, gaps and bad values."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from deepbench_ops.statistics import median_polish

FINITE = st.floats(-10, 10)


def table(effects: list[float], rows: int, seed: int = 1, noise: float = 0.0) -> np.ndarray:
    """Return a table with these column effects and rows that move by up to a factor of two."""
    random = np.random.default_rng(seed)
    moves = random.uniform(0, math.log(2), (rows, 1))
    return np.array(effects) + moves + random.normal(0, noise, (rows, len(effects)))


@given(arrays(float, 5, elements=FINITE), arrays(float, 7, elements=FINITE))
def test_sums_of_row_and_column_are_taken_apart(columns, rows):
    """Without noise the differences of the effects are those of the columns, exactly."""
    found = median_polish.fit(rows[:, None] + columns[None, :])
    assert pytest.approx(columns - columns[0], abs=1e-7) == found.effects - found.effects[0]


def test_single_bad_values_do_not_count():
    """Three of sixty values ten times too large move no effect beyond the noise."""
    values = table([0.0, 0.1, 0.5], rows=20, noise=0.002)
    for row, column in ((0, 1), (7, 0), (13, 2)):
        values[row, column] += math.log(10)
    difference, variance = median_polish.fit(values).difference(0, 2)
    assert pytest.approx(0.5, abs=0.004) == difference
    assert 0 < variance < 0.002**2


def test_two_columns_are_a_pair():
    """Of two columns the difference is the median of the rows' differences, and so its variance."""
    values = table([0.0, 0.3], rows=15, noise=0.05)
    apart = values[:, 1] - values[:, 0]
    deviation = 1.4826 * np.median(abs(apart - np.median(apart)))
    expected = np.median(apart), math.pi / 2 * deviation**2 / 15
    assert pytest.approx(expected) == median_polish.fit(values).difference(0, 1)


def test_blocks_that_share_a_column_are_joined():
    """Releases that never ran together are compared through the one that ran with both."""
    values = table([0.0, 0.2, -0.4], rows=20, noise=0.001)
    values[:10, 2] = np.nan
    values[10:, 1] = np.nan
    difference, variance = median_polish.fit(values).difference(1, 2)
    assert pytest.approx(-0.6, abs=0.002) == difference
    assert 0.0002**2 < variance < 0.001**2


@given(arrays(float, 9, elements=st.floats(-1, 1)), st.integers(0, 1000))
def test_wide_blocks_are_joined_through_the_one_column_they_share(effects, seed):
    """Two blocks of five columns, whose levels differ much: all differences are exact."""
    values = table(list(effects), rows=12, seed=seed)
    values[:6, 4:8] = np.nan
    values[6:, :4] = np.nan
    found = median_polish.fit(values)
    assert pytest.approx(effects - effects[8], abs=1e-7) == found.effects - found.effects[8]


def test_tables_of_a_simulation_are_polished_as_single_ones_are():
    """Tables in leading axes have the effects that each has by itself."""
    tables = np.array([table([0.0, 0.1, -0.2], rows=7, seed=seed, noise=0.05) for seed in range(4)])
    effects, residuals = median_polish.polish(tables)
    for index, each in enumerate(tables):
        alone = median_polish.fit(each)
        assert pytest.approx(alone.effects, abs=1e-7) == effects[index]
        assert pytest.approx(alone.residuals, abs=1e-7) == residuals[index]


def test_columns_that_nothing_connects_are_not_compared():
    """Two blocks without a common column: NaN between them, a difference within each."""
    values = table([0.0, 0.2, -0.4, 0.1], rows=20, noise=0.001)
    values[:10, 2:] = np.nan
    values[10:, :2] = np.nan
    found = median_polish.fit(values)
    assert all(map(math.isnan, found.difference(0, 2)))
    assert pytest.approx(0.2, abs=0.002) == found.difference(0, 1)[0]
    assert pytest.approx(0.5, abs=0.002) == found.difference(2, 3)[0]


def test_a_column_without_values_has_no_effect():
    """It is NaN, and the others are as without it."""
    values = table([0.0, 0.2, 0.4], rows=9)
    values[:, 1] = np.nan
    found = median_polish.fit(values)
    assert math.isnan(found.effects[1])
    assert all(map(math.isnan, found.difference(0, 1)))
    assert pytest.approx(0.4) == found.difference(0, 2)[0]


def test_an_empty_table_has_no_effects():
    """No rows, or no columns: nothing is known, and nothing fails."""
    assert math.isnan(median_polish.fit(np.empty((0, 2))).difference(0, 1)[0])
    assert 0 == median_polish.fit(np.empty((3, 0))).effects.size
