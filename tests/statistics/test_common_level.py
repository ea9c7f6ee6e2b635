"""The level that kernels of one cause share: recovered when rounds or single kernels are ruined."""

import math
import sys
from pathlib import Path

import numpy as np
import pytest

from deepbench_ops.statistics.common_level import common_levels
from deepbench_ops.statistics.ruined_rounds import locate

BENCH = Path(__file__).resolve().parents[2] / "bench"


def differences(random, rounds: int, kernels: int) -> np.ndarray:
    """Logarithms of rounds and kernels: kernels about 0.1, 0.5 % shared and 1 % own noise."""
    shared = random.normal(0, 0.005, (rounds, 1))
    return 0.1 + shared + random.normal(0, 0.01, (rounds, kernels))


def test_a_single_kernel_has_its_own_levels():
    """Rounds that are good keep their logarithms."""
    table = differences(np.random.default_rng(1), 10, 1)
    assert pytest.approx(table[:, 0]) == common_levels(table).levels


def test_without_ruined_values_a_level_is_the_mean_of_its_round():
    """Of kernels with the same rounds, since their own levels cancel up to the clipped parts."""
    table = differences(np.random.default_rng(2), 12, 20)
    found = common_levels(table)
    assert found.counted.all()
    assert pytest.approx(table.mean(axis=1), abs=0.003) == found.levels


def test_ruined_values_do_not_count():
    """One value in ten twice as long, and one round in ten: the pooled level stays."""
    random = np.random.default_rng(3)
    table = differences(random, 20, 12)
    table[random.random(table.shape) < 0.1] += math.log(2)
    table[[4, 11]] += math.log(1.5)
    found = common_levels(table)
    location = locate(found.levels, found.variances)
    assert pytest.approx(0.1, abs=0.008) == float(location.median)


def test_kernels_that_are_uncertain_do_not_count():
    """Half of its rounds at one level and half at another: the mean is that of the others."""
    table = differences(np.random.default_rng(4), 10, 4)
    table[::2, 0] += math.log(1.5)
    found = common_levels(table)
    assert [False, True, True, True] == found.counted.tolist()
    assert pytest.approx(0.1, abs=0.01) == float(np.median(found.levels))


def test_rounds_of_few_kernels_do_not_count():
    """Kernels that were settled early leave rounds to which fewer than half belong."""
    table = differences(np.random.default_rng(5), 12, 6)
    table[6:, :4] = np.nan
    assert 6 == len(common_levels(table).levels)


@pytest.mark.parametrize("table", [np.empty((0, 3)), np.empty((4, 0)), np.full((5, 2), np.nan)])
def test_nothing_is_known_of_nothing(table):
    """No rounds, no kernels, or no values."""
    assert 0 == len(common_levels(table).levels)


@pytest.fixture
def simulation(monkeypatch):
    """The script that simulates ensembles."""
    monkeypatch.syspath_prepend(str(BENCH))
    yield pytest.importorskip("history_verdict_simulation")
    for name in ("history_verdict", "interval_coverage", "detection"):
        sys.modules.pop(f"{name}_simulation", None)


def test_the_simulation_judges_as_ensembles_do(simulation):
    """All releases together, in blocks, and with ruined processes."""
    for kind in simulation.KINDS[:9:2]:
        theirs, ours = simulation.judged_twice(kind, seed=3)
        np.testing.assert_allclose(theirs, ours, rtol=1e-4, atol=1e-6)


def test_simulated_histories_meet_their_targets(simulation):
    """Stopped at 1 %, with one process in ten ruined: the truth is held, 2 % are found."""
    kind = simulation.Kind(0.1, "processes", True)
    levels, variances = simulation.simulated(
        kind, np.random.default_rng(8), 60, simulation.MOST_ROUNDS
    )
    answers = simulation.Answers()
    simulation.stop(answers, levels, variances)
    row = answers.row()
    assert float(row["others hold the truth"]) >= 98.0
    assert float(row["false alarms"]) <= 1.5
    assert float(row["2% found"]) >= 97.0
    assert float(row["off by over 2 %"]) <= 0.5
