"""The robust spread of samples."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepbench_ops.statistics.spread import (
    NORMAL,
    fast_median,
    finite_medians,
    mad_from_zero,
    medians,
    scaled_mad,
)


def test_the_spread_of_normal_samples_is_their_standard_deviation():
    """Of many samples, also about a centre that is known."""
    samples = np.random.default_rng(1).normal(3.0, 0.5, 20_001)
    assert 0.5 == pytest.approx(float(scaled_mad(samples)), rel=0.02)
    assert 0.5 == pytest.approx(float(scaled_mad(samples, centre=3.0)), rel=0.02)


def test_a_few_outliers_do_not_move_the_spread():
    """The median of these samples is 1, and that of their deviations is 1."""
    assert NORMAL == scaled_mad([1.0, 0.0, 1.0, 2.0, 998.0, -4.0, 2.0])


def test_the_spread_is_taken_over_the_last_axis():
    """Each row of samples has its own."""
    assert [NORMAL, 10 * NORMAL] == scaled_mad([[1, 2, 3], [10, 20, 30]]).tolist()


@pytest.mark.parametrize("length", range(1, 9))
def test_medians_are_those_of_numpy(length):
    """Along the last axis, which stays, for an odd and an even number of values, and with NaN."""
    values = np.random.default_rng(length).normal(size=(3, 4, length))
    values[1, 2, 0] = np.nan
    np.testing.assert_array_equal(np.median(values, axis=-1, keepdims=True), medians(values))


@pytest.mark.parametrize("length", range(1, 9))
def test_finite_medians_are_those_of_numpy(length):
    """Along the last axis, which stays, for an odd and an even number of values."""
    values = np.random.default_rng(length).normal(size=(3, 4, length))
    np.testing.assert_array_equal(np.median(values, axis=-1, keepdims=True), finite_medians(values))


@pytest.mark.parametrize("shape", [(0,), (3, 0)])
def test_medians_and_spread_of_no_samples_are_no_numbers(shape):
    """One of each series, as those of samples; no error."""
    nothing = np.empty(shape)
    assert (*shape[:-1], 1) == medians(nothing).shape
    assert shape[:-1] == scaled_mad(nothing).shape == scaled_mad(nothing, 0.0).shape
    assert np.isnan(medians(nothing)).all() and np.isnan(scaled_mad(nothing)).all()


@given(st.lists(st.floats(-1e6, 1e6), max_size=40))
def test_the_median_is_numpys(values):
    """To the last bit; of nothing it is no number."""
    array = np.array(values)
    assert fast_median(array) == np.median(array) if values else math.isnan(fast_median(array))


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40))
def test_the_fast_deviation_is_the_scaled_one_around_zero(values):
    """To the last bit; of nothing it is no number."""
    assert float(scaled_mad(values, 0.0)) == mad_from_zero(np.array(values))
    assert math.isnan(mad_from_zero(np.array([])))
