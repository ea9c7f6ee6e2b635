"""The problems: the published kernel lists, typed, with their FLOPs and bytes.

Standard library only, because every measured environment imports it.
"""

from deepbench_ops.problems.all_reduce import AllReduce
from deepbench_ops.problems.conv import Conv
from deepbench_ops.problems.gemm import Gemm
from deepbench_ops.problems.model import Model
from deepbench_ops.problems.precision import ALL_PRECISIONS, PRECISIONS
from deepbench_ops.problems.problem import DEEPBENCH_SETS, MODERN_SETS, SETS, Problem
from deepbench_ops.problems.problem_lists import FAMILIES, find, load
from deepbench_ops.problems.rnn import Rnn
from deepbench_ops.problems.selections import SELECTIONS, Selected, bench_regex, select
from deepbench_ops.problems.sparse_gemm import SparseGemm

__all__ = [
    "ALL_PRECISIONS",
    "DEEPBENCH_SETS",
    "FAMILIES",
    "MODERN_SETS",
    "PRECISIONS",
    "SELECTIONS",
    "SETS",
    "AllReduce",
    "Conv",
    "Gemm",
    "Model",
    "Problem",
    "Rnn",
    "Selected",
    "SparseGemm",
    "bench_regex",
    "find",
    "load",
    "select",
]
