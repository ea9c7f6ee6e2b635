"""The spread of processes is estimated right, and a single disturbed one does not change it."""

import math

import numpy as np
import pytest

from deepbench_ops.analysis.process_noise import noise


@pytest.mark.parametrize("processes", [2, 3, 5])
@pytest.mark.parametrize("spread", [0.01, 0.1])
def test_it_is_the_standard_deviation_of_the_logs(processes, spread):
    random = np.random.default_rng(1)
    groups = np.exp(random.normal(random.normal(0, 1, (4000, 1)), spread, (4000, processes)))
    assert noise(groups.tolist()) == pytest.approx(spread, rel=0.05)


def test_a_disturbed_process_does_not_move_it():
    """One of thirty that takes nine times as long, as on a shared machine."""
    random = np.random.default_rng(1)
    groups = np.exp(random.normal(0, 0.03, (10, 3)))
    before = noise(groups.tolist())
    groups[4, 1] *= 9
    assert noise(groups.tolist()) == pytest.approx(before, rel=0.35)


def test_single_processes_tell_nothing():
    assert math.isnan(noise([[1.0], [2.0], []]))
