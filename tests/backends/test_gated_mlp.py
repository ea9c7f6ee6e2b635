"""Gated MLPs: frameworks, precisions and passes; wrong kernels."""

import numpy as np
import pytest
from judging import accepted, agrees, verdict

from deepbench_ops.backends.families import gated_mlp as family
from deepbench_ops.problems.gated_mlp import GatedMlp

PROBLEM = GatedMlp("swiglu", 29, 61, 67)
ONNX = ("onnxruntime", "openvino")
NUMPY = ("float32",)


def expected(name, precision, operation):
    """Return a part of the beginning of the verdict on a framework's kernel."""
    if name in ONNX and precision == "bfloat16":
        return f"{name}'s "
    if name == "numpy" and precision not in NUMPY:
        return "numpy "
    if name in ONNX and operation.endswith("backward"):
        return "ONNX is a format of trained networks"
    if name == "numpy" and operation == "backward":
        return "numpy has no gradients"
    return "ok"


@pytest.mark.parametrize("operation", GatedMlp.operations)
@pytest.mark.parametrize("precision", GatedMlp.precisions)
@pytest.mark.parametrize("name", ["numpy", "torch", "jax", "onnxruntime", "openvino", "tensorflow"])
def test_every_kernel_passes_its_check(name, precision, operation):
    """Outputs of every operation are right in every precision, or refused with the reason."""
    found = verdict(name, PROBLEM, precision, operation)
    assert expected(name, precision, operation) in found[:90]


@pytest.mark.parametrize("operation", GatedMlp.operations)
def test_reference_at_some_entries_is_the_whole_reference(operation):
    """Judging a few entries applies the same values and tolerances as judging all."""
    assert agrees(PROBLEM, operation)


@pytest.mark.parametrize("name", ["numpy", "torch", "jax", "onnxruntime", "openvino", "tensorflow"])
def test_geglu_passes_its_check(name):
    """The other activation is right as well, backward where there is one."""
    for operation in GatedMlp.operations:
        found = verdict(name, GatedMlp("geglu", 29, 61, 67), "float32", operation)
        assert expected(name, "float32", operation) in found[:90]


def passes(drawn, activation=family.silu, swapped=False):
    """Return forward output and gradients in float64, with mistakes if asked for."""
    x, g, u, d, dy = (np.float64(drawn[n]) for n in ("x", "gate", "up", "down", "gradient"))
    g, u = (u, g) if swapped else (g, u)
    up = x @ u.T
    active, slope = activation(x @ g.T)
    dh = dy @ d
    da, du = dh * up * slope, dh * active
    gradients = {"gate_gradient": da.T @ x, "up_gradient": du.T @ x}
    backward = {"": da @ g + du @ u, **gradients, "down_gradient": dy.T @ (active * up)}
    return {"": (active * up) @ d.T}, backward


@pytest.mark.parametrize("precision", GatedMlp.precisions)
@pytest.mark.parametrize("mistake", [{}, {"activation": family.gelu_by_tanh}, {"swapped": True}])
def test_wrong_outputs_are_caught(mistake, precision):
    """Another activation, or one on the wrong product, is caught in every precision."""
    forward, backward = passes(family.inputs(PROBLEM, precision), **mistake)
    assert (not mistake) == accepted(PROBLEM, "forward", forward, precision)
    assert (not mistake) == accepted(PROBLEM, "backward", backward, precision)


@pytest.mark.parametrize("output", family.GRADIENTS)
def test_each_gradient_is_checked(output):
    """A gradient of half the size is caught, whichever it is."""
    outputs = passes(family.inputs(PROBLEM, "bfloat16"))[1]
    outputs[output] = outputs[output] / 2
    assert not accepted(PROBLEM, "backward", outputs, "bfloat16")


@pytest.mark.parametrize("activation", [family.silu, family.gelu_by_tanh])
def test_slopes_stay_below_the_bounds(activation):
    """The bounds of the activations' slope and of its change hold."""
    x = np.linspace(-10, 10, 20001)
    value, slope = activation(x)
    np.testing.assert_allclose(np.gradient(value, x), slope, atol=1e-3)
    assert np.abs(slope).max() < family.STEEPEST
    assert np.abs(np.gradient(slope, x)).max() < family.CURVED


def test_bytes_and_flops():
    """2 FLOPs for each token and weight forward, 4 backward."""
    problem = GatedMlp("swiglu", 2, 4, 8)
    assert (2 * 2 * 96, 4 * 2 * 96) == (problem.flops_of("forward"), problem.flops_of("backward"))
    assert (8 + 96 + 8) * 4 == problem.bytes("float32")
    assert (16 + 96 + 32 + 8 + 96) * 2 == problem.bytes_of("bfloat16", "backward")
