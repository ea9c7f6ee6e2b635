"""Sizes from ids, workbooks and logs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.problems import size_checks
from deepbench_ops.problems.problem_ids import problem_of

SIZES = {
    "sparse_gemm": ({"m": 4000, "n": 1, "k": 4000}, "sparsity"),
    "sampling": ({"batch": 2, "columns": 8}, "p"),
}


@pytest.mark.parametrize("family", SIZES)
@pytest.mark.parametrize(
    ("share", "reason"),
    [
        (0.1234567, "0.1234567 has more digits than its id: write 0.123457"),
        (0.1234568, "0.1234568 has more digits than its id: write 0.123457"),
        (0.9999999, "0.9999999 is too close to 0 or 1: write one from 0.0001 to 0.999999"),
        (0.00001, "1e-05 is too close to 0 or 1: write one from 0.0001 to 0.999999"),
    ],
)
def test_a_share_that_its_id_does_not_give_back_is_refused(family, share, reason):
    """Two problems would have one id, or the id would be none."""
    sizes, name = SIZES[family]
    with pytest.raises(DeepbenchError) as caught:
        size_checks.problem(family, {**sizes, name: share})
    assert f": {name} {reason}" in str(caught.value)
    assert 1 == len(str(caught.value).splitlines())


@pytest.mark.parametrize("family", SIZES)
@given(share=st.integers(100, 999_999).map(lambda millionths: millionths / 10**6))
def test_a_share_of_six_digits_reads_back(family, share):
    """From 0.0001 to 0.999999."""
    sizes, name = SIZES[family]
    made = size_checks.problem(family, {**sizes, name: share})
    assert made.sizes() == problem_of(family, made.id).sizes()
