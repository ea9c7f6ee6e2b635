"""Softmax: frameworks, precisions and passes; wrong kernels; sums and shifts of its rows."""

import numpy as np
import pytest
from framework_table import check_of_every_kernel, entries_agree, every_operation
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_checks import accepted

from deepbench_ops.backends import families
from deepbench_ops.backends.families import softmax as family
from deepbench_ops.backends.families.propagated_errors import exact
from deepbench_ops.problems.softmax import Softmax

PROBLEM = Softmax(40, 140)

test_every_kernel_passes_its_check = check_of_every_kernel(every_operation(PROBLEM))
test_reference_at_some_entries_is_the_whole_reference = entries_agree(every_operation(PROBLEM))


def passes(drawn, axis=1, base=np.e, scaled=True):
    """Return forward output and gradient in float64, with mistakes if asked for."""
    x, dy = (np.float64(drawn[name]) for name in ("x", "gradient"))
    powers = base**x
    y = powers / powers.sum(axis=axis, keepdims=True)
    total = (y * dy).sum(axis=axis, keepdims=True) if scaled else 0
    return {"": y}, {"": y * (dy - total)}


@pytest.mark.parametrize("precision", Softmax.precisions)
@pytest.mark.parametrize("mistake", [{}, {"axis": 0}, {"base": 2}])
def test_wrong_outputs_are_caught(mistake, precision):
    """Sums over the other axis, and powers of 2, are no softmax."""
    forward, backward = passes(family.inputs(PROBLEM, precision), **mistake)
    assert (not mistake) == accepted(PROBLEM, "forward", forward, precision)
    assert (not mistake) == accepted(PROBLEM, "backward", backward, precision)


def test_a_gradient_without_its_sum_is_caught():
    """dx = y·dy lacks the share of the other entries of the row."""
    drawn = family.inputs(PROBLEM, "float32")
    assert not accepted(PROBLEM, "backward", passes(drawn, scaled=False)[1])


ROWS = {
    "batch": st.integers(1, 20),
    "columns": st.integers(1, 60),
    "seed": st.integers(0, 9),
}


@settings(max_examples=20)
@given(**ROWS)
def test_rows_sum_to_one_and_their_gradients_to_zero(batch, columns, seed):
    """Probabilities of a row add up to 1, and no shift of it changes them."""
    problem = Softmax(batch, columns)
    drawn = family.inputs(problem, "float32", seed)
    y, dx = (
        families.references(problem, drawn, "float32", operation)[""].everywhere()[0]
        for operation in Softmax.operations
    )
    np.testing.assert_allclose(1, y.sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(0, dx.sum(axis=1), atol=1e-12)


@settings(max_examples=20)
@given(**ROWS, shift=st.integers(-100, 100))
def test_a_shift_changes_nothing(batch, columns, seed, shift):
    """The same number added to all of a row leaves its probabilities."""
    x = np.float64(family.inputs(Softmax(batch, columns), "float32", seed)["x"])
    once, again = (family.probabilities(exact(each, "float32")).value for each in (x, x + shift))
    np.testing.assert_allclose(once, again, rtol=1e-10)


def test_bytes_and_flops():
    """Input and output of 2 x 8; 5 operations for each entry forward, 4 backward."""
    problem = Softmax(2, 8)
    assert (128, 96) == (problem.bytes("float32"), problem.bytes_of("bfloat16", "backward"))
    assert (80, 64) == (problem.flops_of("forward"), problem.flops_of("backward"))
