"""Changes in many series at once are those that the detector finds in each alone."""

import numpy as np
import pytest
from detection_simulation import NOISES, Step, series
from hypothesis import given
from hypothesis import strategies as st

from deepbench_ops.analysis import change_screening
from deepbench_ops.analysis.change_detection import detect_changes
from deepbench_ops.analysis.change_screening import detect_each, may_change

STEPS = [Step(0, 0, 0.01), Step(0.03, 20, 0.01), Step(0.3, 1, 0.02), Step(0.1, 2, 0.02)]
DIGITS = [3, 17]
"""Significant digits: with three, many points of a series are equal."""


def rounded(seconds, digits):
    return [float(f"{each:.{digits}g}") for each in seconds]


@pytest.mark.parametrize("noise", NOISES.values(), ids=list(NOISES))
def test_all_lengths_noises_and_steps_give_what_the_detector_finds(noise):
    """Also with equal values, and next to series of other lengths."""
    random = np.random.default_rng(3)
    several = [
        rounded(series(random, noise, step)[0][-length:], digits)
        for step in STEPS
        for digits in DIGITS
        for length in (2, 3, 6, 7, 11, 13, 14, 20, 21, 39, 40, 41, 80)
        for _ in range(3)
    ]
    found = detect_each(several)
    assert [detect_changes(seconds) for seconds in several] == found
    assert 20 < sum(map(bool, found)) < len(found) - 20


SECONDS = st.one_of(
    st.floats(0.9, 1.1),
    st.sampled_from([1.0, 1.0, 1.2, 0.0, -1.0, np.nan, np.inf, 1e-300, 1e300]),
)


@given(st.lists(st.lists(SECONDS, max_size=45), max_size=5))
def test_any_values_give_what_the_detector_finds(several):
    """Constant series, and values that are no seconds, included."""
    assert [detect_changes(seconds) for seconds in several] == detect_each(several)


@pytest.mark.parametrize("length", [12, 40, 200])
def test_the_detector_is_asked_for_few_series_without_changes(length, monkeypatch):
    """So most of them cost no more than the first tests."""
    logs = np.random.default_rng(5).normal(0, 0.01, (1000, length))
    assert may_change(logs).mean() < 0.1
    asked = []
    monkeypatch.setattr(change_screening, "detect_changes", lambda each: asked.append(each) or [])
    detect_each(np.exp(logs).tolist())
    assert 0 < len(asked) < 100


def test_series_of_no_points_and_no_series_have_no_changes():
    assert [[], [], []] == detect_each([[], [1.0], []])
    assert [] == detect_each([])
