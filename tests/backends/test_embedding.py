"""Embedding: frameworks, precisions and passes; wrong kernels."""

import numpy as np
import pytest
from judging import accepted, agrees, verdict

from deepbench_ops.backends.families import embedding as family
from deepbench_ops.problems.embedding import Embedding

PROBLEM = Embedding(97, 31, 19)
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
    if operation == "backward" and precision != "float32":
        return "adds up gradients of a row"
    return "ok"


@pytest.mark.parametrize("operation", Embedding.operations)
@pytest.mark.parametrize("precision", Embedding.precisions)
@pytest.mark.parametrize("name", ["numpy", "torch", "jax", "onnxruntime", "openvino", "tensorflow"])
def test_every_kernel_passes_its_check(name, precision, operation):
    """Outputs of every operation are right in every precision, or refused with the reason."""
    found = verdict(name, PROBLEM, precision, operation)
    assert expected(name, precision, operation) in found[:90]


@pytest.mark.parametrize("operation", Embedding.operations)
def test_reference_at_some_entries_is_the_whole_reference(operation):
    """Judging a few entries applies the same values and tolerances as judging all."""
    assert agrees(PROBLEM, operation)


@pytest.mark.parametrize("precision", Embedding.precisions)
def test_wrong_rows_are_caught(precision):
    """The row next to the right one, and rows that differ in their last place, are caught."""
    drawn = family.inputs(PROBLEM, precision)
    rows = np.float64(drawn["table"][drawn["tokens"]])
    assert accepted(PROBLEM, "forward", {"": rows}, precision)
    for wrong in (np.roll(rows, 1, axis=0), rows * (1 + 2.0**-12)):
        assert not accepted(PROBLEM, "forward", {"": wrong}, precision)


def test_gradients_that_are_not_summed_are_caught():
    """Of tokens that share a row all gradients count, not only the last one's."""
    drawn = family.inputs(PROBLEM, "float32")
    dy = np.float64(drawn["gradient"])
    right, last = np.zeros((2, PROBLEM.vocabulary, PROBLEM.size))
    np.add.at(right, drawn["tokens"], dy)
    last[drawn["tokens"]] = dy
    assert accepted(PROBLEM, "backward", {"": right})
    assert not accepted(PROBLEM, "backward", {"": last})
    assert not accepted(PROBLEM, "backward", {"": right / 2})


def test_rows_that_no_token_has_get_no_gradient():
    """A number in such a row is caught."""
    problem = Embedding(5, 31, 3)
    drawn = family.inputs(problem, "float32")
    right = np.zeros((31, 3))
    np.add.at(right, drawn["tokens"], np.float64(drawn["gradient"]))
    assert accepted(problem, "backward", {"": right})
    right[np.setdiff1d(np.arange(31), drawn["tokens"])[0]] = 1e-6
    assert not accepted(problem, "backward", {"": right})


def test_bytes_and_flops():
    """4 rows of 8 read and written, or the 2 of a small table; backward the whole table written."""
    large, small = Embedding(4, 100, 8), Embedding(4, 2, 8)
    assert (64 * 4 + 16, 48 * 4 + 16) == (large.bytes("float32"), small.bytes("float32"))
    assert (32 + 800) * 2 + 16 == large.bytes_of("bfloat16", "backward")
    assert (0, 32) == (large.flops_of("forward"), large.flops_of("backward"))
