"""Names of benchmarks and parameters that stored results may have."""

import pytest

from deepbench_ops.problems import load
from deepbench_ops.problems.benchmark_names import why_not
from deepbench_ops.problems.problem_lists import TYPES
from deepbench_ops.problems.selections import CLASSES

INDEXED = ("conv", "grouped_conv", "linear_layer", "grouped_gemm")
"""Families that look the operation up in a table."""


def reason(family: str, operation: str, problem: str = "", precision: str = "", ranks: str = "2"):
    """Why a benchmark is no kernel, by default of a listed problem at a precision of its family."""
    listed, kind = load(family)[0], TYPES[family]
    named = f"{family}.{CLASSES[listed.sets[0]]}.kernel_{operation}"
    params = (problem or listed.id, precision or kind.precisions[0])
    return why_not(named, (*params, ranks) if kind.ranks else params)


@pytest.mark.parametrize("family", [*INDEXED, "rms_norm", "all_gather"])
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
