"""Quantising: a table over frameworks and precisions, and codes and scales that are wrong."""

import numpy as np
import pytest
from framework_table import loaded_with, refusals_of_others
from hypothesis import given, settings
from hypothesis import strategies as st
from installed_frameworks import PLACES, loaded
from kernel_checks import agrees

from deepbench_ops.backends import output_check
from deepbench_ops.backends.families import low_precision as formats
from deepbench_ops.backends.families import quantisation as family
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.quantisation import BLOCKS, Quantisation

PRECISIONS = Quantisation.precisions
OPERATIONS = Quantisation.operations
WITHOUT = ("numpy", "openvino", "tensorflow")
"""Frameworks that need no codes and scales."""
PROBLEM = Quantisation(5, 256)


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize(("name", "device"), PLACES)
def test_codes_and_scales_are_right_or_refused(name, device, precision, operation):
    """Each format is right at every entry, or the framework lacks it with a reason."""
    backend = loaded_with(name, device, Quantisation.family, WITHOUT)
    if name == "onnxruntime" and (operation != "forward" or not precision.endswith("_row")):
        with pytest.raises(Unsupported):
            output_check.check(backend, PROBLEM, precision, operation)
        return
    with refusals_of_others(name):
        found = output_check.check(backend, PROBLEM, precision, operation)
    assert (True, True) == (found.ok, found.error <= found.tolerance)


def test_int8_needs_no_release_with_fp8(monkeypatch):
    """torch before 2.1 has no fp8 and quantises to int8 all the same."""
    torch = pytest.importorskip("torch")
    backend = loaded("torch")
    monkeypatch.delattr(torch, "float8_e4m3fn")
    assert output_check.check(backend, PROBLEM, "int8_row").ok
    with pytest.raises(Unsupported, match="'torch' has no attribute 'float8_e4m3fn'"):
        output_check.check(backend, PROBLEM, "fp8_row")


@pytest.mark.parametrize("precision", PRECISIONS)
@settings(max_examples=12, deadline=None)
@given(
    m=st.integers(1, 9), blocks=st.integers(1, 4), seed=st.integers(0, 99),
    operation=st.sampled_from(OPERATIONS),
)  # fmt: skip
def test_any_size_is_quantised_right(precision, m, blocks, seed, operation):
    """Numbers and scales are right for any number of rows and blocks."""
    kernel = loaded("torch").build(Quantisation(m, 128 * blocks), precision, operation, seed)
    kernel.reset()
    kernel.run()
    for output in kernel.outputs.values():
        expected, allowed = output.reference.everywhere()
        assert np.all(np.abs(output.result() - expected) <= allowed)
    assert output_check.spot_check(kernel).ok


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("precision", PRECISIONS)
def test_reference_at_some_entries_is_the_whole_reference(precision, operation):
    """Judging a few entries applies the same values and tolerances as judging all."""
    assert agrees(PROBLEM, operation, precision)


def truncated(values, kind):
    """Return numbers of the format next to zero instead of the nearest."""
    nearest = formats.numbers_of(formats.codes_of(values.astype(np.float32), kind), kind)
    largest = formats.LARGEST[kind]
    known = (
        np.arange(-largest, largest + 1)
        if kind == "int8"
        else np.unique(formats.VALUES[kind][~np.isnan(formats.VALUES[kind])])
    )
    below = known[np.clip(np.searchsorted(known, nearest) - 1, 0, None)]
    above = known[np.clip(np.searchsorted(known, nearest) + 1, None, known.size - 1)]
    inner = np.where(nearest > 0, below, above)
    return np.where(np.abs(nearest) > np.abs(values), inner, nearest)


MISTAKES = {
    "cut off instead of rounded": lambda x, s, kind: (truncated(x / s, kind), s),
    "the scale of the next block": lambda x, s, kind: (
        formats.numbers_of(formats.codes_of((x / s).astype(np.float32), kind), kind),
        np.roll(s, 1, axis=1),
    ),
    "one scale for all": lambda x, s, kind: (
        formats.numbers_of(formats.codes_of((x / s.max()).astype(np.float32), kind), kind),
        np.full_like(s, s.max()),
    ),
    "scales twice as large": lambda x, s, kind: (
        formats.numbers_of(formats.codes_of((x / s / 2).astype(np.float32), kind), kind),
        2 * s,
    ),
    "nothing beyond half of the range": lambda x, s, kind: (
        np.clip(truncated(x / s, kind), -formats.LARGEST[kind] / 2, formats.LARGEST[kind] / 2),
        s,
    ),
}


@pytest.mark.parametrize("precision", ["int8_row", "fp8_block", "mxfp8", "mxfp4"])
@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_wrong_codes_and_scales_are_found_out(precision, mistake):
    """Each mistake fails in numbers or scales, while the right ones pass."""
    drawn = family.inputs(PROBLEM, precision)
    numbers, scales = family.reference(PROBLEM, drawn, precision, "forward").values()
    kind, across = family.KINDS[precision], BLOCKS[precision] or PROBLEM.n
    x = drawn.x.astype(np.float64)
    right = scales.everywhere()[0]
    each = np.repeat(right, across, axis=1)
    codes = formats.numbers_of(formats.codes_of((x / each).astype(np.float32), kind), kind)

    def passes(found, scale):
        return all(
            np.all(np.abs(value - judge.everywhere()[0]) <= judge.everywhere()[1])
            for value, judge in ((found * scale, numbers), (scale[:, ::across], scales))
        )

    assert passes(codes, each)
    found, scale = mistake(x, each, kind)
    if np.array_equal(found * scale, codes * each):
        pytest.skip("a row has one scale alone")
    assert not passes(found, scale)


def test_work_and_traffic_are_counted_with_the_scales():
    """Bytes are numbers of 16 bits, codes, scales, and the norm's weight."""
    problem = Quantisation(32, 4096)
    count = 32 * 4096
    assert (3 * count, 7 * count) == (problem.flops, problem.flops_of("norm_forward"))
    assert 2 * count + count / 2 + count / 32 == problem.bytes_of("mxfp4", "forward")
    assert 2 * (count + 4096) + count + 32 * 4 == problem.bytes_of("fp8_row", "norm_forward")


def test_its_roof_is_that_of_float32():
    """Nothing is multiplied in the formats of the codes."""
    problem = Quantisation(2, 64)
    assert {"float32"} == {problem.multiplied(name) for name in problem.precisions}


def test_blocks_that_do_not_fill_a_row_are_refused():
    """Rows of 48 have no whole blocks of 32, but one scale each."""
    with pytest.raises(Unsupported, match="32 numbers, which do not divide rows of 48"):
        family.refuse(Quantisation(2, 48), "mxfp8", "forward")
    family.refuse(Quantisation(2, 48), "fp8_row", "forward")
