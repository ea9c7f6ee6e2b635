"""The roofline: the highest rate of a kernel, and the share of it that a time reaches."""

from dataclasses import replace

import pytest
from example_points import point, profile_with

from deepbench_ops.analysis.roofline import roof, share
from deepbench_ops.machine.machine_profile import Figure, Profile


def test_the_roof_is_the_lower_of_arithmetic_and_memory():
    """FLOP/s: the peak, or the bandwidth times the FLOP per byte."""
    one = point()
    intensity = one.problem.intensity("float32")
    assert roof(profile_with(1e12, 1e15), one) == 1e12
    assert roof(profile_with(1e15, 1e9), one) == pytest.approx(1e9 * intensity)
    assert share(profile_with(1e12, 1e15), one) == pytest.approx(one.problem.flops / 1e12)


@pytest.mark.parametrize(
    "known", [None, Profile("box"), profile_with(None, 1e9), profile_with(1e12, None)]
)
def test_without_peak_or_bandwidth_there_is_no_roof(known):
    """And no share of it."""
    assert roof(known, point()) is None
    assert share(known, point()) is None


def test_mixed_kernels_have_the_peak_of_16_bits_and_the_bytes_of_32():
    """They multiply in 16 bits, and read and write 32."""
    one = point(precision="float32_mixed")
    known = replace(
        profile_with(1e12, 1e9), peaks={"cpu": {"float16": Figure(8e12, "FLOP/s", "measured")}}
    )
    assert roof(known, one) == pytest.approx(1e9 * one.problem.intensity("float32"))
    fast = replace(known, bandwidth={"cpu": Figure(1e15, "bytes/s", "measured")})
    assert roof(fast, one) == 8e12
    assert roof(profile_with(1e12, 1e9), one) is None


def test_an_algorithm_with_products_in_a_fixed_precision_has_the_peak_of_that():
    """Muon multiplies in bfloat16, whatever the precision of its parameters; AdamW does not."""
    fast = Figure(8e12, "FLOP/s", "measured")
    known = profile_with(1e12, 1e15)
    known = replace(known, peaks={"cpu": {**known.peaks["cpu"], "bfloat16": fast}})
    muon, adamw = (
        point(family="optimizer_step", problem_id=each, operation="step")
        for each in ("muon_tensors4_512x2048", "adamw_tensors100_1x100000")
    )
    assert (8e12, 1e12) == (roof(known, muon), roof(known, adamw))


def test_a_precision_of_unknown_weight_has_no_roof():
    """Its bytes are not known."""
    assert roof(profile_with(1e12, 1e9), point(precision="float7")) is None
