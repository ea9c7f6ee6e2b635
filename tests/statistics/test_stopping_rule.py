"""Looks at rounds: when they are, and their shares of the probability of an error."""

import pytest

from deepbench_ops.statistics.stopping_rule import looks


@pytest.mark.parametrize("most", [3, 5, 7, 12, 20])
def test_looks_spend_the_probability_of_one_error(most):
    """Their shares add up to 1; the last is after all rounds."""
    planned = looks(most)
    assert 1.0 == pytest.approx(sum(look.share for look in planned))
    assert most == planned[-1].rounds
    assert [look.rounds for look in planned] == sorted({look.rounds for look in planned})
