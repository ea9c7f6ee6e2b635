"""Embedding bags: frameworks, precisions and passes; wrong kernels."""

import numpy as np
import pytest
from judging import accepted, agrees, verdict

from deepbench_ops.backends.families import embedding_bag as family
from deepbench_ops.problems.embedding_bag import EmbeddingBag

PROBLEM = EmbeddingBag(31, 5, 29, 19)
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


@pytest.mark.parametrize("operation", EmbeddingBag.operations)
@pytest.mark.parametrize("precision", EmbeddingBag.precisions)
@pytest.mark.parametrize("name", ["numpy", "torch", "jax", "onnxruntime", "openvino", "tensorflow"])
def test_every_kernel_passes_its_check(name, precision, operation):
    """Outputs of every operation are right in every precision, or refused with the reason."""
    found = verdict(name, PROBLEM, precision, operation)
    assert expected(name, precision, operation) in found[:90]


@pytest.mark.parametrize("operation", EmbeddingBag.operations)
def test_reference_at_some_entries_is_the_whole_reference(operation):
    """Judging a few entries applies the same values and tolerances as judging all."""
    assert agrees(PROBLEM, operation)


@pytest.mark.parametrize("precision", EmbeddingBag.precisions)
def test_wrong_sums_are_caught(precision):
    """Means, maxima and sums without a bag's last row are caught."""
    drawn = family.inputs(PROBLEM, precision)
    rows = np.float64(drawn["rows"][drawn["bags"]])
    assert accepted(PROBLEM, "forward", {"": rows.sum(axis=1)}, precision)
    for wrong in (rows.mean(axis=1), rows.max(axis=1), rows[:, :-1].sum(axis=1)):
        assert not accepted(PROBLEM, "forward", {"": wrong}, precision)


def test_gradients_that_are_not_summed_are_caught():
    """A row that a bag holds twice gets the bag's gradient twice."""
    drawn = family.inputs(PROBLEM, "float32")
    bags, dy = drawn["bags"], np.float64(drawn["gradient"])
    right, once = np.zeros((2, PROBLEM.table, PROBLEM.size))
    np.add.at(right, bags, dy[:, None, :])
    for bag, gradient in zip(bags, dy, strict=True):
        once[np.unique(bag)] += gradient
    assert not np.array_equal(right, once)
    assert accepted(PROBLEM, "backward", {"": right})
    assert not accepted(PROBLEM, "backward", {"": once})


def test_bytes_and_flops():
    """3 bags of 2 rows of 8: 6 rows and as many indices read, 3 written; one addition each."""
    problem = EmbeddingBag(3, 2, 100, 8)
    assert (48 + 24) * 4 + 24 == problem.bytes("float32")
    assert (24 + 800) * 2 + 24 == problem.bytes_of("float16", "backward")
    assert 48 == problem.flops == problem.flops_of("backward")
