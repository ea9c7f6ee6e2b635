"""Embedding bags: frameworks, precisions and passes; wrong kernels."""

import numpy as np
import pytest
from framework_table import (
    check_of_every_kernel,
    entries_agree,
    every_operation,
    gradients_of_rows_in_16_bits,
)
from kernel_checks import accepted

from deepbench_ops.backends.families import embedding_bag as family
from deepbench_ops.problems.embedding_bag import EmbeddingBag

PROBLEM = EmbeddingBag(31, 5, 29, 19)


test_every_kernel_passes_its_check = check_of_every_kernel(
    every_operation(PROBLEM), refused=gradients_of_rows_in_16_bits
)
test_reference_at_some_entries_is_the_whole_reference = entries_agree(every_operation(PROBLEM))


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
    some = EmbeddingBag(50, 2, 100, 8)
    assert (63 + 50) * 8 * 4 + 400 == some.bytes("float32"), "63 of 100 rows, drawn 100 times"
    assert (24 + 800) * 2 + 24 == problem.bytes_of("float16", "backward")
    assert 48 == problem.flops == problem.flops_of("backward")
