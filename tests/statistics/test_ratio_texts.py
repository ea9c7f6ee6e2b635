"""Ratios as text: as many digits as say that they differ."""

import pytest

from deepbench_ops.statistics.ratio_texts import interval_text, ratio_texts


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (1.0042, 1.0123, "1.004 .. 1.012"),
        (0.99996, 1.02, "0.99996 .. 1.02"),
        (1.2341, 1.2342, "1.2341 .. 1.2342"),
        (0.9, 1.3456, "0.9 .. 1.35"),
        (1.0, 1.0, "1 .. 1"),
        (1.0, 1 + 1e-12, "1 .. 1"),
        (1.0, float("inf"), "1 .. inf"),
    ],
)
def test_the_ends_of_an_interval_differ_where_their_numbers_do(low, high, text):
    """From each other and from 1, in six digits at most."""
    assert text == interval_text(low, high)


def test_a_ratio_beyond_1_is_not_1():
    assert (["1.004"], ["1.23"], ["1"]) == tuple(map(ratio_texts, (1.004, 1.2345, 1.0)))
