"""The robust spread of samples."""

import numpy as np
import pytest

from deepbench_ops.statistics.spread import NORMAL, scaled_mad


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
