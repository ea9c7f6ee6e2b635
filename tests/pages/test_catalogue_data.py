"""Data of machines and releases for the pages."""

from datetime import date

import pytest

from deepbench_ops.backends import framework_list
from deepbench_ops.machine.machine_profile import NEXT_TO_LOAD, Figure, Profile
from deepbench_ops.pages.catalogue_data import content, how_obtained
from deepbench_ops.pages.machine_record import MachineRecord
from deepbench_ops.problems import family_list
from deepbench_ops.releases.release_table import Release


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


def test_families_and_frameworks_are_those_found_in_their_order():
    """By it the pages colour them; frameworks that only results have come last."""
    other = Release("fftlib", "1.0", date(2024, 1, 1))
    known = list(framework_list.found()[0])
    found = content("", (), {other: 0}, {}, ())
    assert [*known, "fftlib"] == found["frameworks"]
    assert list(family_list.found()[0]) == found["families"]
    assert "gemm" not in found["fewer_operations"] and "conv" in found["fewer_operations"]


def test_a_peak_that_was_measured_next_to_other_load_is_marked():
    """By the words with which its measurement ends."""
    figures = {
        "float32": Figure(1e11, "FLOP/s", f"measured: x{NEXT_TO_LOAD}other processes took 48%"),
        "float64": Figure(5e10, "FLOP/s", "measured: x"),
    }
    machine = MachineRecord("box", {}, Profile("box", peaks={"cpu": figures}))
    [found] = content("", [machine], {}, {}, ())["machines"]
    assert [True, None] == [peak.get("disturbed") for peak in found["peaks"]]
