"""Names of benchmarks and parameters that stored results may have."""

import pytest

from deepbench_ops.problems import PRECISIONS, load
from deepbench_ops.problems.benchmark_names import why_not
from deepbench_ops.problems.precision import MIXED
from deepbench_ops.problems.problem_lists import TYPES
from deepbench_ops.problems.selections import CLASSES


def reason(family: str, operation: str, problem: str = "", precision: str = "", ranks: str = "2"):
    """Why a benchmark is no kernel, by default of a listed problem at a precision of its family."""
    listed, kind = load(family)[0], TYPES[family]
    named = f"{family}.{CLASSES[listed.sets[0]]}.kernel_{operation}"
    params = (problem or listed.id, precision or kind.precisions[0])
    return why_not(named, (*params, ranks) if kind.ranks else params)


@pytest.mark.parametrize("family", TYPES)
def test_an_operation_that_a_family_lacks_is_of_no_kernel(family):
    """Its work could not be counted."""
    assert reason(family, "nonsense").startswith(f"unknown operation of {family} 'nonsense'; ")


@pytest.mark.parametrize("family", TYPES)
def test_every_operation_that_is_measured_or_published_is_of_a_kernel(family):
    """First calls, a network's operations alone, and columns of published sheets as well."""
    kind = TYPES[family]
    published = kind.sheets.times.values() if kind.sheets else ()
    operations = {*kind.operations, *kind.uncompared, *published}
    assert {""} == {reason(family, operation) for operation in operations}


@pytest.mark.parametrize("family", TYPES)
def test_a_precision_that_a_family_lacks_is_of_no_kernel(family):
    """Its bytes could be those of another precision."""
    found = reason(family, TYPES[family].operations[0], precision="half")
    assert found.startswith(f"unknown precision of {family} 'half'; ")


def test_a_precision_of_other_families_is_of_no_kernel():
    """No library has a GELU of 8-bit numbers, and no sheet."""
    assert reason("gelu", "forward", precision="int8").startswith("unknown precision of gelu")


@pytest.mark.parametrize("family", TYPES)
def test_every_precision_that_is_measured_or_published_is_of_a_kernel(family):
    """DeepBench's sheets name more precisions than some of its families are measured in."""
    kind = TYPES[family]
    precisions = {*kind.precisions, *((*PRECISIONS, MIXED) if kind.sheets else ())}
    assert {""} == {reason(family, kind.operations[0], precision=each) for each in precisions}


@pytest.mark.parametrize(
    ("ranks", "mend"),
    [
        ("0", "a whole number from 1"),
        ("-2", "a whole number from 1"),
        ("2.5", "a whole number from 1"),
        ("\u0663", "a whole number from 1"),
        ("9" * 5000, "a whole number from 1"),
        ("007", "7"),
        ("2.0", "2"),
        ("+2", "2"),
    ],
)
def test_ranks_that_no_run_has_are_of_no_kernel(ranks, mend):
    """A number of processes is a whole number above 0, as Python writes it."""
    found = reason("all_gather", "gather", ranks=ranks)
    assert found.startswith(f"the number of ranks of all_gather is {ranks[:40]!r}: write {mend}")


def test_ranks_that_cannot_share_the_vector_are_of_no_kernel():
    """Seven numbers have no two equal parts; a sum of them needs none."""
    found = reason("all_gather", "gather", problem="all_gather_n7")
    assert found.startswith("all_gather_n7 cannot be shared by 2 ranks")
    assert "" == reason("all_reduce", "sum", problem="n7")
