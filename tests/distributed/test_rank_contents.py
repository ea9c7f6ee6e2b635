"""Contents of ranks around each collective operation: right results pass, wrong ones are found."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deepbench_ops.distributed.collective_options import kinds
from deepbench_ops.distributed.initial_vectors import CHUNK_ENTRIES, PERIOD
from deepbench_ops.distributed.rank_contents import Contents, as_float32, narrowed

FAMILIES = tuple(name for name, kind in kinds().items() if kind.in_parts)
PRECISIONS = ("float32", "bfloat16")
RANKS = st.sampled_from([2, 3, 4, 8])
PARTS = st.sampled_from([1, 2, 100, PERIOD, PERIOD + 1])


def operands(contents):
    """The vectors of every rank before the operation."""
    filled = []
    for rank in range(contents.ranks):
        values = np.empty(contents.operand_size(rank), contents.stored_type)
        contents.fill(values, rank)
        filled.append(values)
    return filled


def results(family, given):
    """The results of every rank, by the definition in MPI's standard."""
    ranks = len(given)
    if family == "all_gather":
        return [np.concatenate(given) for _ in given]
    if family == "reduce_scatter":
        total = np.sum([as_float32(each) for each in given], axis=0, dtype=np.float64)
        kind = "float32" if given[0].dtype == np.float32 else "bfloat16"
        return np.split(narrowed(total.astype(np.float32), kind), ranks)
    parts = [np.split(each, ranks) for each in given]
    return [np.concatenate([parts[other][rank] for other in range(ranks)]) for rank in range(ranks)]


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=15, deadline=None)
@given(ranks=RANKS, part=PARTS, seed=st.integers(0, 9))
def test_the_defined_result_passes_on_every_rank(family, precision, ranks, part, seed):
    """Every entry is expected as the operation defines it, exactly, also at single entries."""
    contents = Contents(family, part * ranks, ranks, precision, seed)
    for rank, result in enumerate(results(family, operands(contents))):
        assert contents.result_size(rank) == len(result)
        assert contents.mismatch(result, 3, rank) is None
        entries = np.unique([0, len(result) // 2, len(result) - 1])
        np.testing.assert_array_equal(as_float32(result)[entries], contents.at(entries, rank))


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("family", ["all_gather", "all_to_all"])
@pytest.mark.parametrize("part", [1, 100, PERIOD, 2 * PERIOD])
@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_parts_in_the_wrong_order_are_found(family, precision, part, ranks):
    """Two parts exchanged, also parts of whole blocks, which are alike but for their numbers."""
    contents = Contents(family, part * ranks, ranks, precision)
    for rank, result in enumerate(results(family, operands(contents))):
        wrong = result.reshape(ranks, part)[[1, 0, *range(2, ranks)]].ravel()
        assert contents.mismatch(wrong, 1, rank).entry < 2 * part


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_missing_part_is_found(family, precision):
    """The last rank's contribution is left out: a part that was never written, or a smaller sum."""
    contents = Contents(family, 400, 4, precision)
    given = operands(contents)
    if family == "reduce_scatter":
        given[-1] = np.zeros_like(given[-1])
        wrong = results(family, given)
    else:
        wrong = results(family, given)
        for result in wrong:
            contents.spoil(result[300:])
    for rank, result in enumerate(wrong):
        assert contents.mismatch(result, 1, rank) is not None


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("family", FAMILIES)
def test_an_output_that_was_never_written_is_found(family, precision):
    """A result as it is before the call is wrong from its first entry on."""
    contents = Contents(family, 6, 2, precision)
    for rank in range(2):
        result = np.empty(contents.result_size(rank), contents.stored_type)
        contents.spoil(result)
        found = contents.mismatch(result, 1, rank)
        assert found.entry == 0
        assert np.isnan(found.actual)


def test_another_ranks_part_of_the_sum_is_found():
    """Each rank must hold its own part."""
    contents = Contents("reduce_scatter", 2 * PERIOD, 2)
    first, second = results("reduce_scatter", operands(contents))
    assert contents.mismatch(second, 1, 0) is not None
    assert contents.mismatch(first, 1, 1) is not None


@pytest.mark.parametrize("entry", [0, CHUNK_ENTRIES - 1, CHUNK_ENTRIES, CHUNK_ENTRIES + PERIOD])
def test_one_wrong_entry_of_a_long_vector_is_named(entry):
    """Its place counts from the beginning of the result, in whatever part it is compared."""
    contents = Contents("all_gather", 2 * (CHUNK_ENTRIES + PERIOD), 2)
    (result, _) = results("all_gather", operands(contents))
    right = result[entry]
    result[entry] = np.nextafter(right, np.float32(1))
    assert (entry, right) == contents.mismatch(result)[:2]


@given(st.lists(st.floats(width=16, allow_subnormal=False), min_size=1))
def test_bfloat16_is_the_upper_half_of_float32(values):
    """Numbers that bfloat16 holds exactly are turned into the same number."""
    coarse = (np.array(values, np.float32).view(np.uint32) & 0xFFFF0000).view(np.float32)
    np.testing.assert_array_equal(coarse, as_float32(narrowed(coarse, "bfloat16")))


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("family", FAMILIES)
def test_nothing_that_is_put_in_is_zero(family, precision):
    """Zeros may travel or be added faster than numbers."""
    for values in operands(Contents(family, 8 * 1000, 8, precision)):
        assert np.all(as_float32(values) != 0)
