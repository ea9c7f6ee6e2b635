"""Cross-entropy: frameworks and passes; wrong kernels."""

import numpy as np
import pytest
from framework_table import check_of_every_kernel, entries_agree, every_operation
from kernel_checks import accepted

from deepbench_ops.backends.families import cross_entropy as family
from deepbench_ops.problems.cross_entropy import CrossEntropy

PROBLEM = CrossEntropy(40, 140)

test_every_kernel_passes_its_check = check_of_every_kernel(every_operation(PROBLEM))
test_reference_at_some_entries_is_the_whole_reference = entries_agree(every_operation(PROBLEM))


def passes(drawn, shift=0, tokens=40, factor=family.LOSS_GRADIENT):
    """Return loss and gradient in float64, with mistakes if asked for."""
    x, targets = np.float64(drawn["logits"]), (drawn["targets"] + shift) % PROBLEM.vocabulary
    shares = np.exp(x) / np.exp(x).sum(axis=1, keepdims=True)
    right = family.one_hot(targets, PROBLEM.vocabulary)
    losses = -np.log((shares * right).sum(axis=1))
    return {"": np.array([losses.sum() / tokens])}, {"": (shares - right) * factor / tokens}


@pytest.mark.parametrize("mistake", [{}, {"shift": 1}, {"tokens": 1}, {"factor": 1}])
def test_wrong_losses_are_caught(mistake):
    """The next class, a sum for the mean, and a gradient without its factor are caught."""
    forward, backward = passes(family.inputs(PROBLEM, "float32"), **mistake)
    right = not mistake or "factor" in mistake
    assert right == accepted(PROBLEM, "forward", forward)
    assert (not mistake) == accepted(PROBLEM, "backward", backward)


def test_a_single_wrong_target_is_caught():
    """One token of 40 that is scored by the next class moves the mean by more than is allowed."""
    drawn = family.inputs(PROBLEM, "float32")
    x, first = np.float64(drawn["logits"])[0], drawn["targets"][0]
    moved = (x[first] - x[(first + 1) % PROBLEM.vocabulary]) / PROBLEM.tokens
    assert not accepted(PROBLEM, "forward", {"": passes(drawn)[0][""] + moved})


def test_bytes_and_flops():
    """2 x 8 logits and 2 targets read, the loss written; backward the gradient and its factor."""
    problem = CrossEntropy(2, 8)
    assert 16 * 4 + 4 + 8 == problem.bytes("float32")
    assert 17 * 4 + 16 * 4 + 8 == problem.bytes_of("float32", "backward")
    assert (64, 48) == (problem.flops_of("forward"), problem.flops_of("backward"))
