"""Levels of releases in a round: recovered under slowed sweeps and slices, gaps and bad values."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from deepbench_ops.statistics import sweep_levels

FINITE = st.floats(-10, 10)


def table(levels: list[float], rows: int, seed: int = 1, noise: float = 0.0) -> np.ndarray:
    """Return a table with these column levels and rows that move by up to a factor of two."""
    random = np.random.default_rng(seed)
    moves = random.uniform(0, math.log(2), (rows, 1))
    return np.array(levels) + moves + random.normal(0, noise, (rows, len(levels)))


@given(arrays(float, 5, elements=FINITE), arrays(float, 7, elements=FINITE))
def test_sums_of_row_and_column_are_taken_apart(columns, rows):
    """Without noise the differences of the levels are those of the columns, exactly."""
    found = sweep_levels.fit(rows[:, None] + columns[None, :])
    assert pytest.approx(columns - columns[0], abs=1e-7) == found.levels - found.levels[0]


def test_single_bad_values_do_not_count():
    """Three of sixty values ten times too large move no level beyond the noise."""
    values = table([0.0, 0.1, 0.5], rows=20, noise=0.002)
    for row, column in ((0, 1), (7, 0), (13, 2)):
        values[row, column] += math.log(10)
    difference, variance = sweep_levels.fit(values).difference(0, 2)
    assert pytest.approx(0.5, abs=0.004) == difference
    assert 0 < variance < 0.002**2


def test_one_slice_that_is_too_fast_does_not_count():
    """Such as by a clock that jumped."""
    values = np.random.default_rng(3).normal([0.0, 0.5], 0.002, (20, 2))
    values[7, 1] -= math.log(10)
    assert pytest.approx(0.5, abs=0.004) == sweep_levels.fit(values).difference(0, 1)[0]


def test_slow_sweeps_and_slow_slices_together_leave_little():
    """Of sweeps up to twice as slow, and a tenth of the slices slowed: half a percent remains."""
    random = np.random.default_rng(4)
    shape = (300, 20, 8)
    values = random.uniform(0, math.log(2), (300, 20, 1)) + random.normal(0, 0.01, shape)
    values += (random.random(shape) < 0.1) * random.uniform(math.log(1.2), math.log(3), shape)
    found = sweep_levels.levels(values)
    assert np.std(found[:, 1:] - found[:, :1]) < 0.0055


def test_two_columns_are_a_pair():
    """Of two columns the difference is the median of the rows' differences, and so its variance."""
    values = table([0.0, 0.3], rows=15, noise=0.05)
    apart = values[:, 1] - values[:, 0]
    deviation = 1.4826 * np.median(abs(apart - np.median(apart)))
    expected = np.median(apart), math.pi / 2 * deviation**2 / 15
    assert pytest.approx(expected) == sweep_levels.fit(values).difference(0, 1)


def test_blocks_that_share_a_column_are_joined():
    """Releases that never ran together are compared through the one that ran with both."""
    values = table([0.0, 0.2, -0.4], rows=20, noise=0.001)
    values[:10, 2] = np.nan
    values[10:, 1] = np.nan
    difference, variance = sweep_levels.fit(values).difference(1, 2)
    assert pytest.approx(-0.6, abs=0.002) == difference
    assert 0.0002**2 < variance < 0.001**2


@given(arrays(float, 9, elements=st.floats(-1, 1)), st.integers(0, 1000))
def test_wide_blocks_are_joined_through_the_one_column_they_share(levels, seed):
    """Two blocks of five columns, whose levels differ much: all differences are exact."""
    values = table(list(levels), rows=12, seed=seed)
    values[:6, 4:8] = np.nan
    values[6:, :4] = np.nan
    found = sweep_levels.fit(values)
    assert pytest.approx(levels - levels[8], abs=1e-7) == found.levels - found.levels[8]


def test_tables_of_a_simulation_have_the_levels_of_single_ones():
    """Tables in leading axes have the levels that each has by itself."""
    tables = np.array([table([0.0, 0.1, -0.2], rows=7, seed=seed, noise=0.05) for seed in range(4)])
    for each, levels in zip(tables, sweep_levels.levels(tables), strict=True):
        assert np.array_equal(sweep_levels.fit(each).levels, levels)


def test_tables_fitted_together_are_as_each_alone():
    """To the last bit, whatever their shapes, and with missing values."""
    tables = [
        table([0.0, 0.1, -0.2], rows=rows, seed=seed, noise=0.05)
        for seed, rows in enumerate([7, 9, 7, 7, 12])
    ]
    tables[2][3, 1] = np.nan
    for one, together in zip(tables, sweep_levels.fit_each(tables), strict=True):
        alone = sweep_levels.fit(one)
        assert np.array_equal(alone.levels, together.levels)
        assert np.array_equal(alone.residuals, together.residuals, equal_nan=True)


def test_columns_that_nothing_connects_are_not_compared():
    """Two blocks without a common column: NaN between them, a difference within each."""
    values = table([0.0, 0.2, -0.4, 0.1], rows=20, noise=0.001)
    values[:10, 2:] = np.nan
    values[10:, :2] = np.nan
    found = sweep_levels.fit(values)
    assert all(map(math.isnan, found.difference(0, 2)))
    assert pytest.approx(0.2, abs=0.002) == found.difference(0, 1)[0]
    assert pytest.approx(0.5, abs=0.002) == found.difference(2, 3)[0]


def test_a_column_without_values_has_no_level():
    """It is NaN, and the others are as without it."""
    values = table([0.0, 0.2, 0.4], rows=9)
    values[:, 1] = np.nan
    found = sweep_levels.fit(values)
    assert math.isnan(found.levels[1])
    assert all(map(math.isnan, found.difference(0, 1)))
    assert pytest.approx(0.4) == found.difference(0, 2)[0]


def test_an_empty_table_has_no_levels():
    """No rows, or no columns: nothing is known, and nothing fails."""
    assert math.isnan(sweep_levels.fit(np.empty((0, 2))).difference(0, 1)[0])
    assert 0 == sweep_levels.fit(np.empty((3, 0))).levels.size
