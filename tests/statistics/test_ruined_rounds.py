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
