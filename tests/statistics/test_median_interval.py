"""Intervals of seconds, made of the logarithms of enough samples."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepbench_ops.statistics.median_interval import FEWEST_SAMPLES, log_interval

samples = st.lists(st.floats(1e-9, 1e5), min_size=FEWEST_SAMPLES, max_size=30)


@given(samples)
def test_an_interval_is_above_zero_and_holds_the_median(seconds):
    """However far the samples lie apart."""
    low, high = log_interval(seconds)
    assert 0 < low <= np.median(seconds) * (1 + 1e-9)
    assert np.median(seconds) <= high * (1 + 1e-9)


@given(samples, st.floats(1e-3, 1e3))
def test_an_interval_does_not_depend_on_the_unit(seconds, unit):
    """Its ends are in the unit of the samples."""
    low, high = log_interval(seconds)
    assert (low * unit, high * unit) == pytest.approx(log_interval([s * unit for s in seconds]))


@pytest.mark.parametrize("seconds", [None, [], [1.0], [1.0, 1.1, 1.2], [1.0, 1.1, 0.0, math.inf]])
def test_too_few_samples_have_no_interval(seconds):
    """Those that are no times do not count."""
    assert log_interval(seconds) is None


@pytest.mark.parametrize("count", [4, 5, 6, 7, 8, 11, 20])
def test_an_interval_holds_the_truth_99_times_in_100(count):
    """For few samples and for many."""
    random = np.random.default_rng(count)
    found = [log_interval(row) for row in np.exp(random.normal(0, 0.1, (4000, count))).tolist()]
    assert np.mean([low <= 1 <= high for low, high in found]) >= 0.988


def test_order_statistics_carry_eight_samples():
    """The least and the largest of eight hold the median in 127 of 128 cases."""
    assert (1.0, 8.0) == log_interval(range(1, 9))
