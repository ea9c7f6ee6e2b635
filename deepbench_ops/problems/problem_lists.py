"""The project's lists of problems: by family, by set, by id.

scripts/make_problem_tables.py writes DeepBench's lists, scripts/make_model_tables.py those of
models, and scripts/make_modern_tables.py those of modern operations.
"""

from collections.abc import Mapping
from functools import cache

from deepbench_ops.problems import family_list
from deepbench_ops.problems.problem import INCLUDED, SETS, Problem, size_fields
from deepbench_ops.problems.suggestions import unknown

TYPES: Mapping[str, type[Problem]] = {
    name: family.kind for name, family in family_list.found()[0].items()
}
"""The dataclass of every family, by name."""

FAMILIES = tuple(name for name, kind in TYPES.items() if not kind.whole_models)
"""The families of kernels; whole models are a family of their own."""


def heading(family: str) -> str:
    """Return the readable name of a family, such as "matrix products"."""
    return TYPES[family].heading or family.replace("_", " ")


def title_prefix(family: str) -> str:
    """Return the words before the titles of a family's problems, such as "matrix products "; "" if
    the titles name the operation."""
    return "" if TYPES[family].title_names_operation else f"{heading(family)} "


def load(family: str, set: str | None = None) -> tuple[Problem, ...]:
    """Return the distinct problems of a family, or of one set and the sets that it includes, in the
    order of the list.

    Names may have dashes for underscores. Problems that no set lists are left out: see
    `published_only`. A family without problems in the set gives (). Raises DeepbenchError for an
    unknown family or set.
    """
    problems = tuple(problem for problem in _table(family_name(family)) if problem.sets)
    if set is None:
        return problems
    name = set_name(set)
    wanted = {name, *INCLUDED.get(name, ())}
    return tuple(problem for problem in problems if wanted & {*problem.sets})


def measured(family: str, set: str) -> tuple[Problem, ...]:
    """Return the problems of a family that the benchmarks of a set measure, without those of
    included sets."""
    return tuple(problem for problem in load(family, set) if set_name(set) in problem.sets)


def published_only(family: str) -> tuple[Problem, ...]:
    """Return the problems of a family that are timed in result workbooks and are in no set.

    They can be found by id like the others.
    """
    return tuple(problem for problem in _table(family_name(family)) if not problem.sets)


def find(family: str, id: str) -> Problem:
    """Return the problem with this id or alias (a wrong id in the published sheets).

    Raises DeepbenchError, with similar ids, if the family has none.
    """
    by_id = named(family)
    if id not in by_id:
        raise unknown(f"{family_name(family)} problem", id, by_id)
    return by_id[id]


@cache
def named(family: str) -> Mapping[str, Problem]:
    """Return the problems of a family by id and by alias."""
    problems = _table(family_name(family))
    by_id = {alias: problem for problem in problems for alias in problem.aliases}
    return by_id | {problem.id: problem for problem in problems}


def family_name(name: str) -> str:
    """Return the name of a family as spelt in TYPES; raise DeepbenchError for an unknown one."""
    return _spelt("family", name, tuple(TYPES))


def set_name(name: str) -> str:
    """Return the name of a set as spelt in SETS; raise DeepbenchError for an unknown one."""
    return _spelt("set", name, SETS)


def _spelt(what: str, name: str, valid: tuple[str, ...]) -> str:
    spelt = name.replace("-", "_")
    if spelt not in valid:
        raise unknown(what, name, valid)
    return spelt


@cache
def _table(family: str) -> tuple[Problem, ...]:
    return family_list.found()[0][family].problems


def size_names(family: str) -> tuple[str, ...]:
    """Return the names of a family's sizes, in the order of its dataclass."""
    return size_fields(TYPES[family])
