"""LayerNorm: frameworks, precisions and passes; wrong kernels."""

import numpy as np
import pytest
from framework_table import check_of_every_kernel, entries_agree, every_operation
from kernel_checks import accepted

from deepbench_ops.backends.families import layer_norm as family
from deepbench_ops.problems.layer_norm import LayerNorm

PROBLEM = LayerNorm(40, 140)


def refused(name, precision, operation):
    """Return the reasons of torch, which has gradients of the weight in 16 bits alone, and of
    openvino, which rounds numbers of 16 bits too often."""
    if (name, operation) == ("openvino", "forward") and precision != "float32":
        return f"openvino's LayerNormalization in {precision}"
    inexact = name == "torch" and operation == "backward" and precision != "float32"
    return "adds up gradients of weight and bias" if inexact else None


test_every_kernel_passes_its_check = check_of_every_kernel(
    every_operation(PROBLEM), refused=refused
)
test_reference_at_some_entries_is_the_whole_reference = entries_agree(every_operation(PROBLEM))


def passes(drawn, epsilon=family.EPSILON, unbiased=0, centred=True):
    """Return forward output and gradients in float64, with mistakes if asked for."""
    x, w, b, dy = (np.float64(drawn[name]) for name in ("x", "weight", "bias", "gradient"))
    off = x - np.mean(x, axis=1, keepdims=True)
    scale = 1 / np.sqrt(np.var(x, axis=1, keepdims=True, ddof=unbiased) + epsilon)
    normal, g = off * scale, dy * w
    mean = np.mean(g, axis=1, keepdims=True) if centred else 0
    dx = (g - mean - normal * np.mean(g * normal, axis=1, keepdims=True)) * scale
    gradients = {"weight_gradient": np.sum(dy * normal, axis=0), "bias_gradient": dy.sum(0)}
    return {"": normal * w + b}, {"": dx, **gradients}


@pytest.mark.parametrize("precision", LayerNorm.precisions)
@pytest.mark.parametrize("mistake", [{}, {"epsilon": 1e-6}, {"unbiased": 1}])
def test_wrong_outputs_are_caught(mistake, precision):
    """Another epsilon, or a variance over one term less, are no LayerNorm."""
    if "unbiased" in mistake and precision == "bfloat16":
        pytest.skip("one of 140 terms changes a bfloat16 result by less than its last place")
    forward, backward = passes(family.inputs(PROBLEM, precision), **mistake)
    assert (not mistake) == accepted(PROBLEM, "forward", forward, precision)
    assert (not mistake) == accepted(PROBLEM, "backward", backward, precision)


@pytest.mark.parametrize("output", ["", "weight_gradient", "bias_gradient"])
def test_each_gradient_is_checked(output):
    """A gradient twice as large is caught; so is dx without the mean taken out."""
    drawn = family.inputs(PROBLEM, "float32")
    outputs = passes(drawn)[1]
    outputs[output] = 2 * outputs[output]
    assert not accepted(PROBLEM, "backward", outputs)
    assert not accepted(PROBLEM, "backward", passes(drawn, centred=False)[1])


def test_sums_in_16_bits_are_noticed():
    """torch's float32 sums of ones are exact."""
    torch = pytest.importorskip("torch")
    from deepbench_ops.backends.torch_backend.layer_norm import adds_up_exactly

    assert adds_up_exactly(torch.float32, "cpu")


def test_bytes_and_flops():
    """x, weight, bias and output of 2 x 8; 7 operations for each entry forward, 13 backward."""
    problem = LayerNorm(2, 8)
    assert (16 + 16 + 16) * 4 == problem.bytes_of("float32", "forward")
    assert (32 + 8 + 16 + 16) * 2 == problem.bytes_of("float16", "backward")
    assert (112, 208) == (problem.flops_of("forward"), problem.flops_of("backward"))
