"""Problem of an id, also for sizes that no published list has."""

import re
from typing import Any

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.problems import size_checks
from deepbench_ops.problems.family_list import size_types
from deepbench_ops.problems.problem import Problem
from deepbench_ops.problems.problem_lists import TYPES, family_name, named
from deepbench_ops.problems.suggestions import unknown


def problem_of(family: str, id: str) -> Problem:
    """Return the problem with this id, listed or not.

    Raises DeepbenchError for a text that is no id, and for sizes that no kernel can have.
    """
    return named(family).get(id) or read(family, id)


def read(family: str, id: str) -> Problem:
    """Return the problem with the sizes in an id, without use of the lists.

    Raises DeepbenchError as `problem_of` does.
    """
    name = family_name(family)
    found = re.fullmatch(TYPES[name].id_pattern, id)
    if found is None:
        raise unknown(f"{name} problem", id, named(family))
    given = {key: text for key, text in found.groupdict().items() if text is not None}
    types = size_types(TYPES[name])
    try:
        problem = size_checks.problem(
            name, {key: _value(TYPES[name], key, types[key], text) for key, text in given.items()}
        )
    except DeepbenchError as wrong:
        raise DeepbenchError(f"{id[:80]}: {wrong}") from None
    if problem.id != id:
        raise DeepbenchError(f"{id[:80]}: write {problem.id}")
    return problem


def _value(kind: type[Problem], name: str, type_: Any, text: str) -> Any:
    if type_ is str:
        return text
    return text != "N" if type_ is bool else size_checks.size(name, text, kind)
