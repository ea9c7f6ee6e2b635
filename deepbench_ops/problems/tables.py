"""Reads the published lists that ship with the project, one CSV file per family.

A line is a distinct problem: its sizes, how many rows each published set spends on it (none where
only a result workbook has it), the application, and where all that comes from.
scripts/make_problem_tables.py writes the files.
"""

import csv
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from deepbench_ops.problems.all_reduce import AllReduce
from deepbench_ops.problems.conv import Conv
from deepbench_ops.problems.gemm import Gemm
from deepbench_ops.problems.model import Model
from deepbench_ops.problems.nearest import unknown
from deepbench_ops.problems.problem import Problem
from deepbench_ops.problems.rnn import Rnn
from deepbench_ops.problems.sparse_gemm import SparseGemm

KERNELS: tuple[type[Problem], ...] = (Gemm, Conv, Rnn, SparseGemm, AllReduce)
TYPES: dict[str, type[Problem]] = {kind.family: kind for kind in KERNELS} | {Model.family: Model}
FAMILIES = tuple(kind.family for kind in KERNELS)
"""The families of DeepBench's lists; whole models are a family beside them."""

SETS = ("training", "inference_server", "inference_device")
SEPARATOR = "; "


def load(family: str, set: str | None = None) -> tuple[Problem, ...]:
    """The distinct problems of a family, or of one set of it, as first listed.

    Names may be written with dashes for underscores. DeepbenchError for an unknown family
    or set; a family of which the set has nothing gives (). What no set lists is left out: see
    `published_only`.
    """
    problems = tuple(problem for problem in _table(family_name(family)) if problem.sets)
    if set is None:
        return problems
    wanted = set_name(set)
    return tuple(problem for problem in problems if wanted in problem.sets)


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
    path = files(__package__).joinpath(f"{family}.csv")
    with path.open(encoding="utf-8") as lines:
        return tuple(from_line(family, line) for line in csv.DictReader(lines))


def from_line(family: str, line: Mapping[str, str]) -> Problem:
    """The problem that one line of a family's file describes."""
    kind = TYPES[family]
    counts = {name: int(line[name] or 0) for name in SETS}
    sizes = {name: _value(line[name]) for name in line.keys() & size_names(family)}
    return kind(
        **sizes,  # type: ignore[arg-type]
        application=line["application"],
        source=line["source"],
        note=line["note"],
        sets=tuple(name for name in SETS if counts[name]),
        rows=tuple(counts[name] for name in SETS if counts[name]),
        aliases=tuple(filter(None, line["aliases"].split(SEPARATOR))),
    )


def size_names(family: str) -> tuple[str, ...]:
    """The size fields of a family, in the order of its dataclass."""
    described = Problem.__dataclass_fields__
    return tuple(name for name in TYPES[family].__dataclass_fields__ if name not in described)


def _value(text: str) -> bool | int | float | str:
    if text in ("true", "false"):
        return text == "true"
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text
