"""KL divergence: frameworks and passes; wrong kernels."""

import numpy as np
import pytest
from judging import accepted, agrees, verdict

from deepbench_ops.backends.families import kl_div as family
from deepbench_ops.problems.kl_div import KlDiv

PROBLEM = KlDiv(40, 140)
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
    return "ok"


@pytest.mark.parametrize("operation", KlDiv.operations)
@pytest.mark.parametrize("precision", KlDiv.precisions)
@pytest.mark.parametrize("name", ["numpy", "torch", "jax", "tensorflow"])
def test_every_kernel_passes_its_check(name, precision, operation):
    """Outputs of every operation are right in every precision, or refused with the reason."""
    found = verdict(name, PROBLEM, precision, operation)
    assert expected(name, precision, operation) in found[:90]


@pytest.mark.parametrize("operation", KlDiv.operations)
def test_reference_at_some_entries_is_the_whole_reference(operation):
    """Judging a few entries applies the same values and tolerances as judging all."""
    assert agrees(PROBLEM, operation)


def passes(drawn, turned=False, tokens=40, factor=family.FACTOR):
    """Return loss and gradient in float64, with mistakes if asked for."""
    x, t = np.float64(drawn["predicted"]), np.float64(drawn["wanted"])
    loss = np.exp(x) * (x - np.log(t)) if turned else t * (np.log(t) - x)
    return {"": np.array([loss.sum() / tokens])}, {"": -t * factor / tokens}


@pytest.mark.parametrize("mistake", [{}, {"turned": True}, {"tokens": 40 * 140}, {"factor": 1}])
def test_wrong_losses_are_caught(mistake):
    """The divergence the other way round, a mean over all entries, a lost factor are caught."""
    forward, backward = passes(family.inputs(PROBLEM, "float32"), **mistake)
    assert (not mistake or "factor" in mistake) == accepted(PROBLEM, "forward", forward)
    assert (not mistake or "turned" in mistake) == accepted(PROBLEM, "backward", backward)


def test_bytes_and_flops():
    """Twice 2 x 8 read, the loss written; backward one read and one written, and a factor."""
    problem = KlDiv(2, 8)
    assert (33 * 4, 33 * 4) == (problem.bytes("float32"), problem.bytes_of("float32", "backward"))
    assert (64, 16) == (problem.flops_of("forward"), problem.flops_of("backward"))
