"""Convolutions in groups: a table over frameworks, precisions and passes, and wrong groups."""

import numpy as np
import pytest
from framework_table import loaded_with, refusals_of_others
from hypothesis import given, settings
from hypothesis import strategies as st
from installed_frameworks import PLACES, loaded, products_refused
from kernel_checks import agrees, distinguishes

from deepbench_ops import backends
from deepbench_ops.backends import families, output_check
from deepbench_ops.backends.families import grouped_conv as family
from deepbench_ops.errors import DeepbenchError, Unsupported
from deepbench_ops.problems import size_checks
from deepbench_ops.problems.grouped_conv import GroupedConv

PASSES = GroupedConv.operations
PRECISIONS = GroupedConv.precisions
HAD = {
    "numpy": {"forward": ("float32",)},
    "torch": dict.fromkeys(PASSES, PRECISIONS),
    "jax": dict.fromkeys(PASSES, PRECISIONS),
    "tensorflow": {
        **dict.fromkeys(PASSES, ("float32",)),
        "forward": ("float32", "bfloat16"),
    },
    "onnxruntime": {"forward": ("float32", "float16")},
    "openvino": {"forward": PRECISIONS},
}
"""The precisions that each of these frameworks has, by pass."""

DEPTHWISE = GroupedConv(128, 56, 56, 128, 32, 128, 7, 7, 3, 1)
PROBLEM = GroupedConv(4, 9, 7, 8, 2, 12, 3, 3, 1, 2)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("operation", PASSES)
@pytest.mark.parametrize(("name", "device"), PLACES)
def test_every_pass_passes_its_check_or_is_refused(name, device, operation, precision):
    """All entries of a small problem are right, or the framework lacks the pass with a reason."""
    backend = loaded_with(name, device, GroupedConv.family)
    if name in HAD and precision not in HAD[name].get(operation, ()):
        with pytest.raises(Unsupported):
            output_check.check(backend, DEPTHWISE, precision, operation)
        return
    try:
        with refusals_of_others(name):
            found = output_check.check(backend, DEPTHWISE, precision, operation)
    except Unsupported as reason:
        expected = {
            "torch": "adds up in 32 bits",
            "openvino": f"no {precision} on this processor",
            "onnxruntime": products_refused(name, precision, operation),
        }
        assert expected[name] in str(reason)
        pytest.skip(str(reason))
    assert (True, True) == (found.ok, found.error <= found.tolerance)


@pytest.mark.parametrize("operation", PASSES)
@pytest.mark.parametrize("name", backends.NAMES)
def test_groups_and_patches_are_computed_right(name, operation):
    """Several channels in a group, more filters than channels, strides and patches are right, or
    refused: numpy has depthwise ones alone, tensorflow those of one channel in a group."""
    backend = loaded_with(name, "cpu", GroupedConv.family)
    if name == "numpy" or (name in HAD and operation not in HAD[name]):
        with pytest.raises(Unsupported):
            backend.build(PROBLEM, "float32", operation)
        return
    some = GroupedConv(6, 9, 7, 6, 2, 12, 3, 3, 1, 2) if name == "tensorflow" else PROBLEM
    for problem in (some, GroupedConv(1, 12, 8, 6, 2, 10, 4, 4, 0, 4)):
        with refusals_of_others(name):
            kernel = backend.build(problem, "float32", operation)
        kernel.reset()
        kernel.run()
        kernel.synchronise()
        expected, allowed = kernel.reference.everywhere()
        assert np.all(np.abs(kernel.result() - expected) <= allowed)
        assert output_check.spot_check(kernel).ok


def test_groups_of_several_channels_are_refused_where_they_cannot_be():
    """TensorFlow has one channel in each group, or one group, on processors."""
    with pytest.raises(Unsupported, match="groups of several channels"):
        loaded("tensorflow").build(PROBLEM, "float32")


def test_numpy_notes_the_order_in_which_its_filters_lie():
    """Each entry of a filter has its channels side by side, unlike in the published layout."""
    kernel = loaded("numpy").build(families.small(DEPTHWISE), "float32")
    assert "channels last: NHWC, filters R, S, channel" == kernel.notes["layout"]


@pytest.mark.parametrize("operation", PASSES)
@settings(max_examples=15, deadline=None)
@given(
    groups=st.integers(1, 4), inner=st.integers(1, 3), outer=st.integers(1, 3),
    size=st.integers(3, 9), pad=st.integers(0, 2), stride=st.integers(1, 3),
    seed=st.integers(0, 99),
)  # fmt: skip
def test_any_groups_are_computed_right(operation, groups, inner, outer, size, pad, stride, seed):
    """Any number of channels and filters in a group is right."""
    problem = GroupedConv(
        groups, size, size + 1, 4 * groups * inner, 2, groups * outer, 3, 2, pad, stride
    )
    kernel = loaded("torch").build(problem, "float32", operation, seed)
    kernel.reset()
    kernel.run()
    expected, allowed = kernel.reference.everywhere()
    assert np.all(np.abs(kernel.result() - expected) <= allowed)


@pytest.mark.parametrize("operation", PASSES)
def test_reference_at_some_entries_is_the_whole_reference(operation):
    """Judging a few entries applies the same values and tolerances as judging all."""
    assert agrees(PROBLEM, operation)


def convolved(images, filters, p):
    """Return the convolution in groups as a loop over filters."""
    padded = np.pad(images.astype(np.float64), ((0, 0), (0, 0), (p.pad,) * 2, (p.pad,) * 2))
    found = np.zeros((p.n, p.k, p.each.p, p.each.q))
    for k, group in enumerate(np.repeat(np.arange(p.groups), p.each.k)):
        seen = padded[:, group * p.each.c : (group + 1) * p.each.c]
        for row, column in np.ndindex(p.each.p, p.each.q):
            y, x = row * p.stride, column * p.stride
            part = seen[:, :, y : y + p.r, x : x + p.s]
            found[:, k, row, column] = (part * filters[k]).sum(axis=(1, 2, 3))
    return found


MISTAKES = {
    "channels of the next group": lambda i, f, p: convolved(np.roll(i, p.each.c, axis=1), f, p),
    "filters of the next group": lambda i, f, p: convolved(i, np.roll(f, p.each.k, axis=0), p),
    "filters turned round": lambda i, f, p: convolved(i, f[:, :, ::-1, ::-1], p),
    "filters transposed": lambda i, f, p: convolved(i, f.transpose(0, 1, 3, 2), p),
    "images off by a pixel": lambda i, f, p: convolved(np.roll(i, 1, axis=3), f, p),
    "channels and groups exchanged": lambda i, f, p: convolved(
        i.reshape(p.n, p.groups, p.each.c, p.h, p.w).swapaxes(1, 2).reshape(i.shape), f, p
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_wrong_groups_are_found_out(mistake):
    """Each mistake fails, at sampled entries too, while the right convolution passes."""
    drawn = family.inputs(PROBLEM, "bfloat16")
    judge = family.reference(PROBLEM, drawn, "bfloat16", "forward")
    operands = drawn.images, drawn.filters, PROBLEM
    assert distinguishes(judge, convolved(*operands), mistake(*operands))


def test_work_is_that_of_the_channels_of_a_group():
    """FLOPs are 2·P·Q·N·K·(C/groups)·R·S: ConvNeXt-B's depthwise layer has 1.26e9."""
    assert 2 * 56 * 56 * 32 * 128 * 1 * 49 == DEPTHWISE.flops
    images, filters = 32 * 128 * 56 * 56, 128 * 49
    assert {2 * (2 * images + filters)} == {
        DEPTHWISE.bytes_of("bfloat16", operation) for operation in PASSES
    }
    patches = GroupedConv(1, 224, 224, 3, 32, 128, 4, 4, 0, 4)
    assert 2 * 56 * 56 * 32 * 128 * 3 * 16 == patches.flops


def test_a_stride_beyond_the_filter_skips_pixels_in_every_group():
    """Of 16 channels in 4 groups, 3 of 5 rows and of 5 columns are read."""
    problem = GroupedConv(4, 5, 5, 16, 2, 8, 1, 1, 0, 2)
    read, others = 2 * 16 * 3 * 3, 8 * 4 + 2 * 8 * 3 * 3
    assert 4 * (read + others) == problem.bytes("float32") == problem.bytes_of("float32", "forward")
    whole = 4 * (2 * 16 * 5 * 5 + others)
    assert whole == problem.bytes_of("float32", "backward_data")
    assert 2 * whole == loaded("numpy").memory_needed(problem, "float32", "forward")


def test_pictures_have_no_gradient():
    """Nothing consumes the gradient of a network's own pictures."""
    patches = GroupedConv(1, 224, 224, 3, 32, 128, 4, 4, 0, 4)
    with pytest.raises(Unsupported, match="nothing consumes the gradient"):
        output_check.check(loaded("torch"), patches, "float32", "backward_data")


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"groups": "3"}, "3 groups do not divide 8 and 8 channels"),
        ({"groups": "0"}, "groups is '0': write a whole number from 1"),
        ({"r": "9"}, "the filter is larger than the padded image"),
    ],
)
def test_impossible_groups_are_one_clear_line(given, reason):
    """Groups must divide the channels, be at least one, and the filter must fit."""
    text = dict.fromkeys(("groups", "w", "h", "c", "n", "k", "r", "s"), "8") | given
    with pytest.raises(DeepbenchError) as found:
        size_checks.problem(
            "grouped_conv",
            {name: size_checks.size(name, value, GroupedConv) for name, value in text.items()},
        )
    assert reason in str(found.value)
    assert "\n" not in str(found.value)
