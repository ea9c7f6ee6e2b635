"""Intervals of seconds, made of logarithms of enough samples; error shares of looks at rounds."""

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepbench_ops.statistics import student
from deepbench_ops.statistics.sample_interval import FEWEST_SAMPLES, log_interval
from deepbench_ops.statistics.spread import NORMAL, scaled_mad
from deepbench_ops.statistics.stopping import looks

samples = st.lists(st.floats(1e-9, 1e5), min_size=FEWEST_SAMPLES, max_size=30)


@given(samples)
def test_an_interval_is_above_zero_and_holds_the_median(seconds):
    """However far the samples lie apart."""
    low, high = log_interval(seconds)
    assert 0 < low <= np.median(seconds) * (1 + 1e-9)
    assert np.median(seconds) <= high * (1 + 1e-9)


@given(samples, st.floats(1e-3, 1e3))
def test_an_interval_does_not_depend_on_the_unit(seconds, unit):
    low, high = log_interval(seconds)
    assert (low * unit, high * unit) == pytest.approx(log_interval([s * unit for s in seconds]))


@pytest.mark.parametrize("seconds", [None, [], [1.0], [1.0, 1.1, 1.2], [1.0, 1.1, 0.0, math.inf]])
def test_too_few_samples_have_no_interval(seconds):
    """Those that are no times do not count."""
    assert log_interval(seconds) is None


@pytest.mark.parametrize("count", [4, 5, 6, 7, 8, 11, 20])
def test_an_interval_holds_the_truth_99_times_in_100(count):
    random = np.random.default_rng(count)
    found = [log_interval(row) for row in np.exp(random.normal(0, 0.1, (4000, count))).tolist()]
    assert np.mean([low <= 1 <= high for low, high in found]) >= 0.988


def test_order_statistics_carry_eight_samples():
    """The least and the largest of eight hold the median in 127 of 128 cases."""
    assert (1.0, 8.0) == log_interval(range(1, 9))


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 6, 30])
@pytest.mark.parametrize("probability", [0.6, 0.95, 0.995])
def test_students_quantiles_are_those_of_scipy(freedom, probability):
    special = pytest.importorskip("scipy.special")
    expected = special.stdtrit(freedom, probability)
    assert student.quantile(probability, freedom) == pytest.approx(expected)


@pytest.mark.parametrize("most", [3, 5, 7, 12, 20])
def test_looks_spend_the_probability_of_one_error(most):
    """Their shares add up to 1; the last is after all rounds."""
    planned = looks(most)
    assert 1.0 == pytest.approx(sum(look.share for look in planned))
    assert most == planned[-1].rounds
    assert [look.rounds for look in planned] == sorted({look.rounds for look in planned})


@pytest.mark.slow
def test_the_simulation_judges_as_verdicts_do():
    """It compares some trials of each row with compare_pairs or compare_samples, and prints all."""
    script = Path(__file__).resolve().parents[2] / "bench" / "verdict_simulation.py"
    command = [sys.executable, str(script), "--trials", "30"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert 3 == done.stdout.count("30 trials a row")


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
