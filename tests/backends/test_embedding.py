"""Embedding: frameworks, precisions and passes; wrong kernels."""

import numpy as np
import pytest
from framework_table import (
    check_of_every_kernel,
    entries_agree,
    every_operation,
    gradients_of_rows_in_16_bits,
)
from kernel_checks import accepted

from deepbench_ops.backends.families import embedding as family
from deepbench_ops.problems.embedding import Embedding

PROBLEM = Embedding(97, 31, 19)


test_every_kernel_passes_its_check = check_of_every_kernel(
    every_operation(PROBLEM), refused=gradients_of_rows_in_16_bits
)
test_reference_at_some_entries_is_the_whole_reference = entries_agree(every_operation(PROBLEM))


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
    some = Embedding(100, 100, 8)
    assert (63 + 100) * 8 * 4 + 400 == some.bytes("float32"), "63 of 100 rows, drawn 100 times"
    assert (32 + 800) * 2 + 16 == large.bytes_of("bfloat16", "backward")
    assert (0, 32) == (large.flops_of("forward"), large.flops_of("backward"))
