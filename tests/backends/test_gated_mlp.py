"""Gated MLPs: frameworks, precisions and passes; wrong kernels."""

import numpy as np
import pytest
from framework_table import check_of_every_kernel, entries_agree, every_operation
from installed_frameworks import products_refused
from kernel_checks import accepted

from deepbench_ops.backends.families import gated_mlp as family
from deepbench_ops.problems.gated_mlp import GatedMlp

PROBLEM, OTHER = (GatedMlp(activation, 29, 61, 67) for activation in ("swiglu", "geglu"))


def refused(name, precision, operation):
    """Return the reason of numpy, which has no gradients, and of products that are refused."""
    lacking = name == "numpy" and operation == "backward"
    return "numpy has no gradients" if lacking else products_refused(name, precision, operation)


test_every_kernel_passes_its_check = check_of_every_kernel(
    every_operation(PROBLEM, OTHER), refused=refused
)
test_reference_at_some_entries_is_the_whole_reference = entries_agree(every_operation(PROBLEM))


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
    assert np.abs(slope).max() < family.LARGEST_SLOPE
    assert np.abs(np.gradient(slope, x)).max() < family.LARGEST_CURVATURE


def test_bytes_and_flops():
    """2 FLOPs for each token and weight forward, 4 backward."""
    problem = GatedMlp("swiglu", 2, 4, 8)
    assert (2 * 2 * 96, 4 * 2 * 96) == (problem.flops_of("forward"), problem.flops_of("backward"))
    assert (8 + 96 + 8) * 4 == problem.bytes("float32")
    assert (16 + 96 + 32 + 8 + 96) * 2 == problem.bytes_of("bfloat16", "backward")
