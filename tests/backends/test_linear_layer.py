"""Linear layers and their gradients: a table over frameworks, judged by float64."""

import numpy as np
import pytest
from framework_table import LISTED, loaded_with
from hypothesis import given, settings
from hypothesis import strategies as st
from installed_frameworks import PLACES, lacking_precisions, products_refused
from kernel_runs import accepts, agrees_with_itself, built, judged, ran

from deepbench_ops.backends import output_check
from deepbench_ops.backends.families import linear_layer as family
from deepbench_ops.problems import find
from deepbench_ops.problems.linear_layer import LinearLayer

OPERATIONS = LinearLayer.operations
PRECISIONS = LinearLayer.precisions
LACKING = {
    "numpy": {"tf32", "bfloat16"},
    "onnxruntime": {"tf32", "bfloat16"},
    "openvino": {"tf32"},
    "mindspore": {"tf32", "bfloat16"},
}


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("m", [1, 7])
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize(("name", "device"), PLACES)
def test_every_operation_is_right(name, device, precision, m, bias):
    """Every entry of every output is within the precision's tolerance; gaps are the known ones."""
    loaded_with(name, device, LinearLayer.family)
    lacking = lacking_precisions(name, LACKING, {"tf32"} if device == "cpu" else set())
    if products_refused(name, precision, "forward"):
        lacking = lacking | {precision}
    for operation in OPERATIONS:
        kernel = built(name, LinearLayer(m, 9, 13, bias), precision, operation, device)
        assert name not in LISTED or (kernel is None) == (precision in lacking)
        if kernel is not None:
            assert judged(ran(kernel))
            assert output_check.spot_check(kernel).ok
            both = operation == "backward_weight" and bias
            assert ["", family.BIAS_OUTPUT][: 1 + both] == list(kernel.outputs)


@settings(max_examples=25)
@given(*[st.integers(1, 40)] * 3, st.booleans(), st.sampled_from(OPERATIONS))
def test_any_shape_is_computed_right(m, n, k, bias, operation):
    """All sizes, in numpy; and the reference says the same at single entries."""
    kernel = ran(built("numpy", LinearLayer(m, n, k, bias), "float32", operation))
    assert judged(kernel)
    assert all(agrees_with_itself(output.reference) for output in kernel.outputs.values())


def wrong(drawn):
    """Kernels that make a mistake of each kind, by its name: the operation and its first output."""
    x, weight, gradient = (
        each.astype(np.float64) for each in (drawn.x, drawn.weight, drawn.gradient)
    )
    short = x.copy()
    short[:, -1] = 0
    return {
        "the weight is not turned": (
            "forward",
            x @ weight.reshape(weight.shape[::-1]) + drawn.bias,
        ),
        "no bias": ("forward", x @ weight.T),
        "the last input is left out": ("forward", short @ weight.T + drawn.bias),
        "the bias is added twice": ("forward", x @ weight.T + 2 * drawn.bias),
        "the weight is halved": ("backward_input", gradient @ weight / 2),
        "the last token is left out": ("backward_weight", gradient[:-1].T @ x[:-1]),
        "a product rounded to bfloat16": ("forward", rounded(x @ weight.T + drawn.bias)),
    }


def rounded(values):
    """The values with eight bits of mantissa."""
    return (values.astype(np.float32).view(np.uint32) & 0xFFFF0000).view(np.float32)


@pytest.mark.parametrize(
    "mistake", list(wrong(family.inputs(LinearLayer(3, 4, 5, True), "float32")))
)
def test_a_wrong_kernel_is_caught(mistake):
    """The check refuses it."""
    problem = LinearLayer(31, 13, 67, bias=True)
    drawn = family.inputs(problem, "float32")
    operation, values = wrong(drawn)[mistake]
    assert not accepts(family.reference(problem, drawn, "float32", operation)[""], values)


def test_a_wrong_gradient_of_the_bias_is_caught():
    """It is an output of its own."""
    problem = LinearLayer(31, 13, 67, bias=True)
    drawn = family.inputs(problem, "float32")
    judge = family.reference(problem, drawn, "float32", "backward_weight")[family.BIAS_OUTPUT]
    assert accepts(judge, drawn.gradient.astype(np.float64).sum(0)[:, None])
    assert not accepts(judge, drawn.gradient[:-1].astype(np.float64).sum(0)[:, None])


def test_work_and_traffic():
    """2mnk FLOPs of each operation; each matrix, and the bias, is moved once."""
    problem = LinearLayer(3, 5, 7, bias=True)
    flops = {problem.flops_of(operation) for operation in OPERATIONS}
    moved = [problem.bytes_of("float32", operation) for operation in OPERATIONS]
    matrices = 3 * 7 + 5 * 7 + 3 * 5
    assert {2 * 3 * 5 * 7} == flops
    assert [4 * (matrices + 5), 4 * matrices, 4 * (matrices + 5)] == moved
    assert problem.bytes("bfloat16") == problem.bytes_of("bfloat16", "forward")


def test_the_layer_of_a_gradient_is_the_published_one():
    """DeepGEMM's gradients of n7168_k2048 are those of one layer, which times them alone."""
    layer = find("linear_layer", "linear_m4096_n7168_k2048")
    assert ("backward_input", "backward_weight") == layer.timed
    assert "linear layer of 2048 inputs, 7168 outputs, 4096 tokens" == layer.title
