"""Quantiles of Student's distribution, without scipy."""

import pytest

from deepbench_ops.statistics import student_distribution


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 6, 30])
@pytest.mark.parametrize("probability", [0.6, 0.95, 0.995])
def test_students_quantiles_are_those_of_scipy(freedom, probability):
    """For few degrees of freedom and for many."""
    special = pytest.importorskip("scipy.special")
    expected = special.stdtrit(freedom, probability)
    assert student_distribution.quantile(probability, freedom) == pytest.approx(expected)
