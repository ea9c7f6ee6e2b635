"""Counts in closed form: equal to counting one by one, and as quick for the largest sizes."""

import math

from hypothesis import given
from hypothesis import strategies as st

from deepbench_ops.problems.conv import Conv
from deepbench_ops.problems.grouped_gemm import EXACT_TERMS, GroupedGemm, _harmonic
from deepbench_ops.problems.problem_ids import problem_of
from deepbench_ops.problems.size_checks import LARGEST

few = st.integers(1, 12)


@given(few, st.integers(0, 12), few)
def test_products_of_a_filter_of_one_pixel_are_those_inside_the_image(size, pad, stride):
    """Each is of a row of the image; others are of rows of zeros."""
    problem = Conv(1, size, 1, 1, 1, 1, 1, pad_h=pad, stride_h=stride)
    inside = sum(0 <= stride * place - pad < size for place in range(problem.p))
    assert problem.p / max(inside, 1) == problem.fast_factor


@given(few, few, st.integers(0, 12), few)
def test_pixels_read_are_those_that_some_position_of_the_filter_covers(size, filter, pad, stride):
    """Distinct ones, without the padding."""
    if filter > size + 2 * pad:
        return
    problem = Conv(size, size, 1, 1, 1, filter, filter, pad, pad, stride, stride)
    first = [stride * place - pad for place in range(problem.p)]
    covered = {place + pixel for place in first for pixel in range(filter)}
    read = len(covered & {*range(size)}) ** 2
    assert (read + filter**2, problem.p**2) == problem.traffic()


@given(st.integers(1, 300), st.integers(1, 300))
def test_single_rows_go_to_the_groups_that_counting_gives(groups, rows):
    taken = [place * groups // rows for place in range(rows)]
    expected = tuple(taken.count(group) for group in range(groups))
    assert expected == GroupedGemm(groups, rows, 8, 8, "single").loads


@given(st.integers(1, 300), st.integers(1, 3000), st.sampled_from(["balanced", "single", "skewed"]))
def test_busy_groups_are_those_with_rows(groups, rows, split):
    problem = GroupedGemm(groups, rows, 8, 8, split)
    assert sum(load > 0 for load in problem.loads) == problem.busy


def test_the_approximated_sum_is_that_of_its_terms():
    """To the rounding of so many additions."""
    for terms in (EXACT_TERMS + 1, 10 * EXACT_TERMS):
        expected = math.fsum(1 / place for place in range(1, terms + 1))
        assert math.isclose(expected, _harmonic(terms), rel_tol=1e-15)


def test_the_largest_sizes_are_counted_at_once():
    """An import may name them: a loop over 10^12 places would last for hours."""
    row = problem_of("conv", f"w{LARGEST}_h1_c1_n1_k1_r1_s1_pad0_0_stride1_1")
    assert 1.0 == row.fast_factor
    assert LARGEST == row._images_read
    experts = {
        split: problem_of("grouped_gemm", f"e{LARGEST}_m{LARGEST}_n1_k1_{split}").busy
        for split in ("balanced", "single", "skewed")
    }
    share = LARGEST / (math.log(LARGEST) + 0.5772)
    assert (LARGEST, LARGEST) == (experts["balanced"], experts["single"])
    assert math.isclose(share, experts["skewed"], rel_tol=1e-5)
