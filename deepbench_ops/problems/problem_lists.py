"""The lists of problems that ship with the project: by family, by set, by id.

scripts/make_problem_tables.py writes DeepBench's, scripts/make_model_tables.py those of models,
scripts/make_modern_tables.py those of today's operations.
"""

from collections.abc import Mapping
from functools import cache

from deepbench_ops.problems import families
from deepbench_ops.problems.problem import INCLUDED, SETS, Problem
from deepbench_ops.problems.suggestions import unknown

TYPES: Mapping[str, type[Problem]] = {
    name: family.kind for name, family in families.found()[0].items()
}
"""The dataclass of every family, by name."""

FAMILIES = tuple(name for name, kind in TYPES.items() if not kind.whole_models)
"""The families of kernels; whole models are a family of their own."""


def load(family: str, set: str | None = None) -> tuple[Problem, ...]:
    """The distinct problems of a family, or of one set and those that it includes, as first listed.

    Names may be written with dashes for underscores. DeepbenchError for an unknown family
    or set; a family without problems in the set gives (). Problems that no set lists are left out:
    see `published_only`.
    """
    problems = tuple(problem for problem in _table(family_name(family)) if problem.sets)
    if set is None:
        return problems
    name = set_name(set)
    wanted = {name, *INCLUDED.get(name, ())}
    return tuple(problem for problem in problems if wanted & {*problem.sets})


def measured(family: str, set: str) -> tuple[Problem, ...]:
    """The problems of a family that the benchmarks of a set measure: without included sets."""
    return tuple(problem for problem in load(family, set) if set_name(set) in problem.sets)


def published_only(family: str) -> tuple[Problem, ...]:
    """The problems of a family that result workbooks time and no list has.

    They can be looked up by id like the others, and are in no set.
    """
    return tuple(problem for problem in _table(family_name(family)) if not problem.sets)


def find(family: str, id: str) -> Problem:
    """The problem of that id, or the one that the published sheets print under it by a slip.

    DeepbenchError, with the nearest ids, when the family has none.
    """
    by_id = named(family)
    if id not in by_id:
        raise unknown(f"{family_name(family)} problem", id, by_id)
    return by_id[id]


@cache
def named(family: str) -> Mapping[str, Problem]:
    """The problems of a family by id, and by the ids that the sheets print by a slip."""
    problems = _table(family_name(family))
    by_id = {alias: problem for problem in problems for alias in problem.aliases}
    return by_id | {problem.id: problem for problem in problems}


def family_name(name: str) -> str:
    """The family's name as spelt in TYPES; DeepbenchError when there is none."""
    return _spelt("family", name, tuple(TYPES))


def set_name(name: str) -> str:
    """The set's name as spelt in SETS; DeepbenchError when there is none."""
    return _spelt("set", name, SETS)


def _spelt(what: str, name: str, valid: tuple[str, ...]) -> str:
    spelt = name.replace("-", "_")
    if spelt not in valid:
        raise unknown(what, name, valid)
    return spelt


@cache
def _table(family: str) -> tuple[Problem, ...]:
    return families.found()[0][family].problems


def size_names(family: str) -> tuple[str, ...]:
    """The size fields of a family, in the order of its dataclass."""
    return families.size_names(TYPES[family])
