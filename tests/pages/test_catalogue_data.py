"""Data of machines and releases for the pages."""

import pytest

from deepbench_ops.pages.catalogue_data import how_obtained


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("measured: 2048^3 GEMM", "measured: 2048^3 GEMM"),
        (
            "not measured: torch is not installed in this environment: install it; numpy has none",
            "not measured: numpy has none",
        ),
        (
            "not measured: torch is not installed",
            "not measured: no framework that could measure it is installed",
        ),
    ],
)
def test_a_peak_that_was_not_measured_says_so_in_a_short_line(how, expected):
    """The first reason, and none of the hints at what to install."""
    assert expected == how_obtained(how)
