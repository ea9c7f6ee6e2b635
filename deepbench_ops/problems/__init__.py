"""The problems: the published kernel lists, typed, with their FLOPs and bytes.

Standard library only, because every measured environment imports it.
"""

from deepbench_ops.problems.precision import ALL_PRECISIONS, PRECISIONS
from deepbench_ops.problems.problem import DEEPBENCH_SETS, MODERN_SETS, SETS, Problem
from deepbench_ops.problems.problem_lists import FAMILIES, find, load
from deepbench_ops.problems.selections import SELECTIONS, Selected, bench_regex, select

__all__ = [
    "ALL_PRECISIONS",
    "DEEPBENCH_SETS",
    "FAMILIES",
    "MODERN_SETS",
    "PRECISIONS",
    "SELECTIONS",
    "SETS",
    "Problem",
    "Selected",
    "bench_regex",
    "find",
    "load",
    "select",
]
