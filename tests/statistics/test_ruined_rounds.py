"""The distribution of the level of rounds."""

import numpy as np
import pytest

from deepbench_ops.statistics.ruined_rounds import locate


@pytest.mark.parametrize("level", [-0.5, 0.5])
def test_a_probability_lies_between_0_and_1(level):
    """Also where rounds leave no doubt, and the weights' sum is above 1 by rounding."""
    random = np.random.default_rng(1)
    located = locate(random.normal(level, 0.003, (500, 8)), np.full((500, 8), 1e-6))
    below, probability = located.below(np.zeros(500)), located.probability(0.0)
    for each in (below, probability):
        assert 0 <= each.min()
        assert each.max() <= 1
    assert probability.max() < 1e-3


@pytest.mark.parametrize("rounds", [1, 3, 4, 8, 25])
def test_a_quantile_has_its_probability_below_it(rounds):
    """In the middle and far out, with ruined rounds that leave several places to choose from."""
    random = np.random.default_rng(rounds)
    ruined = random.random((300, rounds)) < 0.25
    levels = random.normal(0, 0.004, (300, rounds)) + ruined * random.choice([-0.5, 0.1, 0.9])
    located = locate(levels, np.full((300, rounds), 1e-6))
    asked = [1e-6, 0.005, 0.05, 0.5, 0.95, 0.995]
    found = located.quantile(asked)
    for probability, each in zip(asked, found, strict=True):
        assert located.below(each) == pytest.approx(np.full(300, probability), rel=1e-4)
    assert np.all(np.diff(found, axis=0) > 0)
    assert located.quantile(0.05) == pytest.approx(found[2], rel=1e-9)
