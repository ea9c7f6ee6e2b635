"""Cross-entropy with its linear layer: frameworks and passes; wrong kernels."""

import numpy as np
import pytest
from framework_table import ONNX, check_of_every_kernel, entries_agree, every_operation
from installed_frameworks import loaded
from kernel_checks import accepted

from deepbench_ops.backends.families import linear_cross_entropy as family
from deepbench_ops.backends.families.cross_entropy import LOSS_GRADIENT, one_hot
from deepbench_ops.backends.families.operands import MOST_ENTRIES
from deepbench_ops.problems.cross_entropy import CrossEntropy
from deepbench_ops.problems.linear_cross_entropy import FORWARD_BACKWARD, LinearCrossEntropy

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


def in_one(forward, backward):
    """Return the outputs of forward and backward as those of both in one call."""
    return {**backward, family.LOSS: forward[""]}


@pytest.mark.parametrize("precision", LinearCrossEntropy.precisions)
@pytest.mark.parametrize("mistake", [{}, {"shift": 1}, {"factor": 1}])
def test_wrong_losses_are_caught(mistake, precision):
    """The class next to the target, and gradients without their factor, are caught."""
    forward, backward = passes(family.inputs(PROBLEM, precision), **mistake)
    right = not mistake or "factor" in mistake
    assert right == accepted(PROBLEM, "forward", forward, precision)
    assert (not mistake) == accepted(PROBLEM, "backward", backward, precision)
    both = in_one(forward, backward)
    assert (not mistake) == accepted(PROBLEM, FORWARD_BACKWARD, both, precision)


@pytest.mark.parametrize("output", family.GRADIENTS)
def test_each_gradient_is_checked(output):
    """A gradient of half the size is caught, whichever it is."""
    outputs = passes(family.inputs(PROBLEM, "bfloat16"))[1]
    outputs[output] = outputs[output] / 2
    assert not accepted(PROBLEM, "backward", outputs, "bfloat16")


@pytest.mark.parametrize("output", [*family.GRADIENTS, family.LOSS])
@pytest.mark.parametrize("precision", LinearCrossEntropy.precisions)
def test_each_output_of_both_passes_in_one_is_checked(precision, output):
    """The loss too."""
    outputs = in_one(*passes(family.inputs(PROBLEM, precision)))
    outputs[output] = outputs[output] / 2
    assert not accepted(PROBLEM, FORWARD_BACKWARD, outputs, precision)


@pytest.mark.parametrize("operation", ["fused_loss", FORWARD_BACKWARD])
def test_fused_operations_of_torch_never_have_all_logits(operation):
    """No array of a call has a number for each token and class; those of plain functions have."""
    backend = loaded("torch")
    if not hasattr(pytest.importorskip("torch").nn, "LinearCrossEntropyOptions"):
        pytest.skip("this release computes all logits")
    logits = [PROBLEM.tokens, PROBLEM.vocabulary]
    assert logits in shapes(backend.build(PROBLEM, "float32", "forward"))
    assert logits not in shapes(backend.build(PROBLEM, "float32", operation))


def shapes(kernel):
    """Return the shapes of the arrays that the functions of torch get in a call."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as found:
        kernel.run()
    return [shape for event in found.events() for shape in event.input_shapes]


@pytest.mark.parametrize("problem", [PROBLEM, CrossEntropy(29, 131)], ids=lambda each: each.family)
def test_numpy_repeats_no_forward_pass_in_a_backward_pass(problem, monkeypatch):
    """Only the two products of the gradients are computed, and no maximum."""
    kernel = loaded("numpy").build(problem, "float32", "backward")
    calls = []
    for name in ("matmul", "max"):
        own = getattr(np, name)

        def counted(*given, own=own, name=name, **more):
            calls.append(name)
            return own(*given, **more)

        monkeypatch.setattr(np, name, counted)
    kernel.run()
    assert (["matmul"] * 2 if problem is PROBLEM else []) == calls


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
    """x, W and targets read, the loss written; no logits. Two products backward, three in one."""
    problem = LinearCrossEntropy(2, 4, 8)
    assert (8 + 32 + 1) * 4 + 8 == problem.bytes_of("float32", "fused_loss")
    read, written = 8 + 32 + 1, 8 + 32 + 1
    assert (read + written) * 2 + 8 == problem.bytes_of("bfloat16", FORWARD_BACKWARD)
    products = [problem.flops_of(each) / (2 * 64) for each in problem.operations]
    assert [1, 2, 1, 3] == products
