"""Top-k: frameworks and precisions; wrong columns; ties; bad sizes."""

import numpy as np
import pytest
from framework_table import check_of_every_kernel, entries_agree, every_operation
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_checks import accepted

from deepbench_ops.backends.families import topk as family
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.problems.problem_ids import problem_of
from deepbench_ops.problems.topk import TopK

PROBLEM = TopK(37, 131, 9)

test_every_kernel_passes_its_check = check_of_every_kernel(
    every_operation(PROBLEM), in_numpy=("float32", "float16")
)
test_reference_at_some_entries_is_the_whole_reference = entries_agree(every_operation(PROBLEM))


def chosen(x, k):
    """Return the k largest of each row, and their columns."""
    columns = np.argsort(-np.float64(x), axis=1, kind="stable")[:, :k]
    return np.take_along_axis(x, columns, axis=1), columns


def right(drawn, values, columns):
    """Return whether values and columns are accepted."""
    return accepted(PROBLEM, "forward", {"": family.checked_values(drawn["x"], values, columns)})


def test_wrong_columns_and_values_are_caught():
    """The smallest, another order, wrong columns and columns out of the row are caught."""
    drawn = family.inputs(PROBLEM, "float32")
    values, columns = chosen(drawn["x"], PROBLEM.k)
    assert right(drawn, values, columns)
    smallest = chosen(-drawn["x"], PROBLEM.k)
    assert not right(drawn, -smallest[0], smallest[1])
    assert not right(drawn, values[:, ::-1], columns[:, ::-1])
    assert not right(drawn, values, columns + 1)
    assert not right(drawn, values, np.full_like(columns, -1))


@settings(max_examples=30)
@given(
    rows=st.lists(st.lists(st.integers(0, 3), min_size=6, max_size=6), min_size=1, max_size=5),
    k=st.integers(1, 6),
    seed=st.integers(0, 99),
)
def test_ties_may_come_in_any_order_but_once(rows, k, seed):
    """Any columns with the largest values are accepted; one that is there twice is not."""
    x = np.array(rows, np.float32)
    order = np.random.default_rng(seed).permutation(x.shape[1])
    values, places = chosen(x[:, order], k)
    columns = order[places]
    np.testing.assert_array_equal(values, family.checked_values(x, values, columns))
    if k > 1:
        columns[:, 1] = columns[:, 0]
        assert np.isnan(family.checked_values(x, values, columns)).any(axis=1).all()


def test_more_than_there_are_is_refused_in_one_line():
    """A k above the number of columns is named, with what to write."""
    with pytest.raises(DeepbenchError, match="k is 9, but a row has 8 columns: write a smaller k"):
        problem_of("topk", "topk_batch1_columns8_k9")


def test_bytes_and_flops():
    """2 x 8 numbers read, 3 of each row and their columns written, one comparison for each."""
    problem = TopK(2, 8, 3)
    assert (16 * 4 + 6 * 4 + 6 * 4, 16) == (problem.bytes("float32"), problem.flops)
