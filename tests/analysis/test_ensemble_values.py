"""Times of releases from rounds of ensembles: values, intervals, and rounds of several blocks."""

import math

import numpy as np
import pytest

from deepbench_ops.analysis import ensemble_values
from deepbench_ops.measure.ensemble_round import Round

TRUE = {"a": 1e-3, "b": 1.1e-3, "c": 0.8e-3, "d": 2e-3}
NOMINAL = 1e-4


def one(random, names: str, anchor: str = "a", noise: float = 0.005, ruined: float = 1.0) -> Round:
    """Return a round of releases; the machine runs at half to all of its speed in each sweep."""
    process = {name: math.exp(random.normal(0, noise)) for name in names}
    process[names[-1]] *= ruined
    sweeps, yardstick = [], []
    for _ in range(10):
        slow = random.uniform(1, 2)
        sweeps.append({name: TRUE[name] * process[name] * slow for name in names})
        yardstick.append(NOMINAL * slow * math.exp(random.normal(0, 0.01)))
    return Round(
        sweeps, anchor=anchor, yardstick=yardstick, yardstick_kind="compute", nominal=NOMINAL
    )


def test_values_are_the_anchors_seconds_times_the_ratio():
    """Of all releases, with two of twelve rounds ruined by half."""
    random = np.random.default_rng(1)
    taken = [one(random, "abcd", ruined=1.5 if n in (3, 7) else 1.0) for n in range(12)]
    found = ensemble_values.release_times(taken)
    assert ("a", True) == (found.anchor, found.calibrated)
    assert {"a", "b", "c", "d"} == set(found.of)
    for name, value in found.of.items():
        assert pytest.approx(TRUE[name], rel=0.015) == value.seconds
        assert value.low <= value.seconds <= value.high
        assert min(value.samples) <= value.seconds <= max(value.samples)
        assert 12 == len(value.samples)
        assert pytest.approx(found.seconds * value.ratio) == value.seconds
    assert found.low < TRUE["a"] < found.high


def test_intervals_hold_the_true_ratio():
    """Of 40 histories of four releases at most three intervals of 99 % miss it."""
    random = np.random.default_rng(2)
    missed = 0
    for _ in range(40):
        found = ensemble_values.release_times([one(random, "abcd") for _ in range(10)])
        for name in "bcd":
            value, ratio = found.of[name], TRUE[name] / TRUE["a"]
            missed += not value.ratio_low <= ratio <= value.ratio_high
    assert missed <= 3


def test_rounds_of_a_later_block_refine_all():
    """A block of anchor, previous and new joins earlier rounds: each has all that hold it."""
    random = np.random.default_rng(3)
    earlier = [one(random, "abc") for _ in range(5)]
    found = ensemble_values.release_times([*earlier, *(one(random, "acd") for _ in range(5))])
    rounds = {name: len(value.samples) for name, value in found.of.items()}
    assert {"a": 10, "b": 5, "c": 10, "d": 5} == rounds
    assert pytest.approx(TRUE["d"], rel=0.02) == found.of["d"].seconds


def test_a_release_without_rounds_with_the_anchor_is_led_to_it():
    """Two files whose anchors differ share one release."""
    random = np.random.default_rng(4)
    taken = [one(random, "ab") for _ in range(6)]
    taken += [one(random, "bd", anchor="b") for _ in range(5)]
    found = ensemble_values.release_times(taken)
    value = found.of["d"]
    assert pytest.approx(TRUE["d"], rel=0.02) == value.seconds
    assert value.low < TRUE["d"] < value.high
    assert 5 == len(value.samples)


def test_without_a_yardstick_values_are_raw():
    """The ratios are the same, and the seconds those of the clock."""
    random = np.random.default_rng(5)
    taken = [one(random, "ab") for _ in range(6)]
    for each in taken:
        each.yardstick = []
    found = ensemble_values.release_times(taken)
    assert not found.calibrated
    assert found.seconds > 1.2 * TRUE["a"]
    assert pytest.approx(1.1, rel=0.01) == found.of["b"].ratio


@pytest.mark.parametrize("count", [0, 1, 2])
def test_too_few_rounds_are_none(count):
    """Two rounds may agree by chance."""
    random = np.random.default_rng(6)
    assert ensemble_values.release_times([one(random, "ab") for _ in range(count)]) is None


def test_the_anchors_own_noise_is_its_interval():
    """A noisy anchor has a wide interval, a quiet one a narrow one."""
    random = np.random.default_rng(7)
    quiet = ensemble_values.release_times([one(random, "bcda") for _ in range(10)]).of["a"]
    noisy = [one(random, "bcda", ruined=math.exp(random.normal(0, 0.05))) for _ in range(10)]
    wide = ensemble_values.release_times(noisy).of["a"]
    assert (quiet.high - quiet.low) / quiet.seconds < 0.03
    assert (wide.high - wide.low) / wide.seconds > 0.05


def test_rounds_of_one_state_give_the_values():
    """Of eight rounds near and five far, in which b takes 1.5 times as long, the eight count."""
    random = np.random.default_rng(6)
    near = [one(random, "ab") for _ in range(8)]
    far = [one(random, "ab", ruined=1.5) for _ in range(5)]
    changed = [one(random, "ab", ruined=3.0) for _ in range(9)]
    for rounds, state in ((near, "near"), (far, "far"), (changed, "changed in between")):
        for each in rounds:
            each.state = state
    found = ensemble_values.release_times([*far, *near, *changed])
    assert ("near", near) == (found.state, found.rounds)
    assert 8 == len(found.of["b"].samples)
    assert pytest.approx(1.1, rel=0.015) == found.of["b"].ratio
    assert ensemble_values.release_times(near) == found
    assert ensemble_values.release_times(changed) is None
