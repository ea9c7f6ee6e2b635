"""From an id back to the problem: for sizes that a result names and no published list has."""

import re
from typing import Any

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.problems import sizes
from deepbench_ops.problems.model import network_sizes
from deepbench_ops.problems.nearest import unknown
from deepbench_ops.problems.problem import Problem
from deepbench_ops.problems.tables import family_name, named

_PATTERNS = {
    "gemm": r"m(?P<m>\d+)_n(?P<n>\d+)_k(?P<k>\d+)_(?P<a_transposed>[NT])(?P<b_transposed>[NT])",
    "conv": r"w(?P<w>\d+)_h(?P<h>\d+)_c(?P<c>\d+)_n(?P<n>\d+)_k(?P<k>\d+)_r(?P<r>\d+)_s(?P<s>\d+)"
    r"_pad(?P<pad_w>\d+)_(?P<pad_h>\d+)_stride(?P<stride_w>\d+)_(?P<stride_h>\d+)",
    "rnn": r"(?P<cell>vanilla|lstm|gru)_h(?P<hidden>\d+)_n(?P<batch>\d+)_t(?P<timesteps>\d+)",
    "all_reduce": r"n(?P<elements>\d+)",
    "model": rf"(?P<name>{'|'.join(network_sizes())})_b(?P<batch>\d+)(?:_t(?P<threads>\d+))?",
}
_PATTERNS["sparse_gemm"] = _PATTERNS["gemm"] + r"_sparsity(?P<sparsity>0\.\d+)"


def problem_of(family: str, id: str) -> Problem:
    """Return the problem of that id, listed or not.

    Raises DeepbenchError for what is no id at all, or names sizes that no kernel has.
    """
    listed = named(family).get(id)
    if listed is not None:
        return listed
    name = family_name(family)
    found = re.fullmatch(_PATTERNS[name], id)
    if found is None:
        raise unknown(f"{name} problem", id, named(family))
    given = {key: text for key, text in found.groupdict().items() if text is not None}
    try:
        problem = sizes.problem(name, {key: _value(key, text) for key, text in given.items()})
    except DeepbenchError as wrong:
        raise DeepbenchError(f"{id[:80]}: {wrong}") from None
    if problem.id != id:
        raise DeepbenchError(f"{id[:80]}: write {problem.id}")
    return problem


def _value(name: str, text: str) -> Any:
    if name in ("cell", "name"):
        return text
    if name.endswith("_transposed"):
        return text == "T"
    return sizes.size(name, text)
