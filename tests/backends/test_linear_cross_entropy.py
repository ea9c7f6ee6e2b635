"""Cross-entropy with its linear layer: frameworks and passes; wrong kernels."""

import numpy as np
import pytest
from framework_table import ONNX, check_of_every_kernel, entries_agree, every_operation
from kernel_checks import accepted

from deepbench_ops.backends.families import linear_cross_entropy as family
from deepbench_ops.backends.families.cross_entropy import LOSS_GRADIENT, one_hot
from deepbench_ops.backends.families.operands import MOST_ENTRIES
from deepbench_ops.problems.linear_cross_entropy import LinearCrossEntropy

PROBLEM = LinearCrossEntropy(29, 61, 131)


def refused(name, precision, operation):
    """Return the reason of frameworks without a fused operation."""
    lacking = name != "torch" and operation.startswith("fused")
    return f"{name} has no single operation for linear layer" if lacking else None


test_every_kernel_passes_its_check = check_of_every_kernel(
    every_operation(PROBLEM), without=ONNX, refused=refused
)
test_reference_at_some_entries_is_the_whole_reference = entries_agree(every_operation(PROBLEM))


def passes(drawn, shift=0, factor=LOSS_GRADIENT):
    """Return loss and gradients in float64, with mistakes if asked for."""
    x, w = np.float64(drawn["x"]), np.float64(drawn["weight"])
    powers = np.exp(x @ w.T)
    shares = powers / powers.sum(axis=1, keepdims=True)
    right = one_hot((drawn["targets"] + shift) % PROBLEM.vocabulary, PROBLEM.vocabulary)
    of_logits = (shares - right) * factor / PROBLEM.tokens
    loss = -np.log((shares * right).sum(axis=1)).mean()
    return {"": np.array([loss])}, {"": of_logits @ w, "weight_gradient": of_logits.T @ x}


@pytest.mark.parametrize("precision", LinearCrossEntropy.precisions)
@pytest.mark.parametrize("mistake", [{}, {"shift": 1}, {"factor": 1}])
def test_wrong_losses_are_caught(mistake, precision):
    """The class next to the target, and gradients without their factor, are caught."""
    forward, backward = passes(family.inputs(PROBLEM, precision), **mistake)
    right = not mistake or "factor" in mistake
    assert right == accepted(PROBLEM, "forward", forward, precision)
    for operation in ("backward", "fused_backward"):
        assert (not mistake) == accepted(PROBLEM, operation, backward, precision)


@pytest.mark.parametrize("output", family.GRADIENTS)
def test_each_gradient_is_checked(output):
    """A gradient of half the size is caught, whichever it is."""
    outputs = passes(family.inputs(PROBLEM, "bfloat16"))[1]
    outputs[output] = outputs[output] / 2
    assert not accepted(PROBLEM, "backward", outputs, "bfloat16")


def test_a_weight_of_several_pieces_gives_the_same_loss():
    """The reference widens 2**22 numbers of the weight at a time, and here there are more."""
    problem = LinearCrossEntropy(3, 1024, 5001)
    assert problem.hidden * problem.vocabulary > MOST_ENTRIES
    drawn = family.inputs(problem, "float32")
    logits = np.float64(drawn["x"]) @ np.float64(drawn["weight"]).T
    of_targets = logits[np.arange(3), drawn["targets"]]
    expected = np.mean(np.log(np.exp(logits).sum(axis=1)) - of_targets)
    found, _ = family.reference(problem, drawn, "float32", "forward")[""].everywhere()
    assert expected == pytest.approx(found[0], rel=1e-12)


def test_bytes_and_flops():
    """x, W and targets read, the loss written; no logits. Two products backward."""
    problem = LinearCrossEntropy(2, 4, 8)
    assert (8 + 32 + 1) * 4 + 8 == problem.bytes_of("float32", "fused_forward")
    assert (2 * 64, 4 * 64) == (problem.flops_of("forward"), problem.flops_of("fused_backward"))
