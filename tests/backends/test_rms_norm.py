"""RMSNorm: frameworks, precisions and passes; wrong kernels; changes that the norm cancels."""

import numpy as np
import pytest
from framework_table import check_of_every_kernel, entries_agree
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_checks import accepted

from deepbench_ops.backends import families
from deepbench_ops.backends.families import rms_norm as family
from deepbench_ops.problems.rms_norm import RmsNorm

PLAIN, ADDED = (RmsNorm(kind, 40, 140) for kind in ("rms_norm", "add_rms_norm"))
PASSES = [(PLAIN, "forward"), (PLAIN, "backward"), (ADDED, "forward")]

test_every_kernel_passes_its_check = check_of_every_kernel(PASSES)
test_reference_at_some_entries_is_the_whole_reference = entries_agree(PASSES)


def passes(drawn, epsilon=family.EPSILON, weight=1.0, terms=None):
    """Return forward output and gradients in float64, with mistakes if asked for."""
    x, w, dy = (np.float64(drawn[name]) for name in ("x", "weight", "gradient"))
    w = w if weight else np.ones_like(w)
    scale = 1 / np.sqrt(np.mean(x[:, :terms] ** 2, axis=1, keepdims=True) + epsilon)
    normal, g = x * scale, dy * w
    dx = (g - normal * np.mean(g * normal, axis=1, keepdims=True)) * scale
    return {"": normal * w}, {"": dx, "weight_gradient": np.sum(dy * normal, axis=0)}


@pytest.mark.parametrize("precision", RmsNorm.precisions)
@pytest.mark.parametrize(
    ("mistake", "right"),
    [
        ({}, True),
        ({"epsilon": 1e-5}, False),
        ({"epsilon": 0}, False),
        ({"weight": None}, False),
        ({"terms": -1}, False),
    ],
)
def test_wrong_outputs_are_caught(mistake, right, precision):
    """Another epsilon, no weight, or a mean without the last entry are no RMSNorm."""
    drawn = family.inputs(PLAIN, precision)
    forward, backward = passes(drawn, **mistake)
    if "terms" in mistake and precision != "float32":
        pytest.skip("one of 140 terms changes a 16-bit result by less than its last place")
    assert right == accepted(PLAIN, "forward", forward, precision)
    assert right == accepted(PLAIN, "backward", backward, precision)


@pytest.mark.parametrize("missing", ["", "weight_gradient"])
def test_each_gradient_is_checked(missing):
    """A gradient twice as large is caught, whichever it is."""
    outputs = passes(family.inputs(PLAIN, "float32"))[1]
    outputs[missing] = 2 * outputs[missing]
    assert not accepted(PLAIN, "backward", outputs)


def test_the_sum_is_checked():
    """The second output of add_rms_norm is x plus the residual."""
    drawn = family.inputs(ADDED, "float32")
    total = np.float64(drawn["x"]) + drawn["residual"]
    scale = 1 / np.sqrt(np.mean(total**2, axis=1, keepdims=True) + family.EPSILON)
    output = total * scale * drawn["weight"]
    assert accepted(ADDED, "forward", {"": output, "sum": total})
    assert not accepted(ADDED, "forward", {"": output, "sum": np.float64(drawn["x"])})


@settings(max_examples=20)
@given(tokens=st.integers(1, 20), hidden=st.integers(2, 60), seed=st.integers(0, 9))
def test_rows_without_weight_have_a_mean_square_of_one(tokens, hidden, seed):
    """The reference divided by the weight has the mean square m / (m + epsilon) of inputs of m."""
    problem = RmsNorm("rms_norm", tokens, hidden)
    drawn = family.inputs(problem, "float32", seed)
    output = families.references(problem, drawn, "float32", "forward")[""].everywhere()[0]
    squares = np.mean((output / drawn["weight"]) ** 2, axis=1)
    given_squares = np.mean(np.float64(drawn["x"]) ** 2, axis=1)
    assert np.allclose(squares, given_squares / (given_squares + family.EPSILON), rtol=1e-5)


def test_bytes_and_flops():
    """x, weight and output of 2 x 8; four operations for each entry, one more for a sum."""
    problem = RmsNorm("rms_norm", 2, 8)
    assert (16 + 8 + 16) * 4 == problem.bytes_of("float32", "forward")
    assert (16 + 16 + 8 + 16 + 8) * 2 == problem.bytes_of("bfloat16", "backward")
    assert (64, 144) == (problem.flops_of("forward"), problem.flops_of("backward"))
    added = RmsNorm("add_rms_norm", 2, 8)
    assert ((16 + 16 + 8 + 32) * 4, 80) == (added.bytes("float32"), added.flops)
