"""Selections: named parts of the lists, for runs that would take too long with all problems.

`headline` has the problems that each family declares: for DeepBench's families those in the tables
of its README, for modern families about two each. Each set of the lists is a selection too. A
family may declare further selections: whole models have one with one batch of each network. A
problem can be in two sets, where it has two benchmarks, so a selection consists of pairs of set and
problem.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from deepbench_ops.problems.precision import precision
from deepbench_ops.problems.problem import FIRST_CALL, INCLUDED, OPERATIONS_SUFFIX, SETS, Problem
from deepbench_ops.problems.problem_lists import FAMILIES, TYPES, family_name, find, load, set_name
from deepbench_ops.problems.suggestions import unknown

FAMILY_SELECTIONS = {
    name: (family, listed)
    for family, kind in TYPES.items()
    for name, listed in kind.selections.items()
}
"""Selections that a single family declares: the family, and the set of their problems."""

SELECTIONS = ("headline", *(name.replace("_", "-") for name in SETS), *FAMILY_SELECTIONS)
CLASSES = {name: name.title().replace("_", "") for name in SETS}
"""Class of the benchmarks of each set: Training, InferenceServer, ModernFull ..."""
FUSED = "fused"
"""Beginning of the names of operations that are a framework's own layers."""
NOTHING = "(?!)"
"""Regular expression that matches no benchmark."""


class Selected(NamedTuple):
    """One problem in a set that measures it.

    ranks: numbers of ranks of a collective operation; () for all of them, and for problems that run
    in one process.
    """

    set: str
    problem: Problem
    ranks: tuple[int, ...] = ()


def select(name: str, family: str | None = None) -> tuple[Selected, ...]:
    """Return the members of a selection, of all families of kernels or of one.

    A family without members in the selection gives (). Raises DeepbenchError for an unknown family
    or a name that is not in SELECTIONS (with dashes or underscores).
    """
    wanted = selection_name(name)
    if wanted in FAMILY_SELECTIONS:
        own, listed = FAMILY_SELECTIONS[wanted]
        asked = family is None or family_name(family) == own
        few = TYPES[own].few(load(own, listed)) if asked else ()
        return tuple(Selected(listed, problem) for problem in few)
    families = FAMILIES if family is None else (family_name(family),)
    if wanted != "headline":
        listed = set_name(wanted)
        return tuple(
            Selected(each, problem)
            for family in families
            for problem in load(family, listed)
            for each in (listed, *INCLUDED.get(listed, ()))
            if each in problem.sets
        )
    return tuple(
        Selected(listed, find(each, id), TYPES[each].headline_ranks)
        for each in families
        for listed, ids in TYPES[each].headline.items()
        for id in ids
    )


def operations(problem: Problem, fused: bool = False) -> tuple[str, ...]:
    """Return the operations of a problem that are compared; with `fused` also those that are a
    framework's own layers."""
    return tuple(
        operation
        for operation in problem.timed_operations
        if operation not in problem.uncompared and (fused or not operation.startswith(FUSED))
    )


def selection_name(name: str) -> str:
    """Return the name of a selection as spelt in SELECTIONS; raise DeepbenchError for an unknown
    one."""
    spelt = name.replace("_", "-")
    if spelt not in SELECTIONS:
        raise unknown("selection", name, SELECTIONS)
    return spelt


def bench_regex(
    selected: Sequence[Selected],
    precisions: Sequence[str] = (),
    fused: bool = True,
    first_call: bool = True,
    apart: bool = True,
) -> str:
    """Return a regular expression for `asv run --bench` that matches exactly these members.

    asv searches it in texts such as `gemm.Training.kernel_forward('m1760_n128_k1760_NN',
    'float32')`: name of the benchmark, then the repr of each parameter. The expression matches
    every operation of a problem, but only with `fused` a framework's own layers, with `first_call`
    first calls, and with `apart` operations of a model that are timed alone. It matches every
    precision if `precisions` is empty, and never the same id in another set. It is NOTHING if no
    member has a benchmark at these precisions.
    """
    asked = ((FUSED, fused), (FIRST_CALL, first_call), (rf"\w+{OPERATIONS_SUFFIX}", apart))
    out = [word for word, kept in asked if not kept]
    passes = rf"kernel_(?!{'|'.join(out)})\w+" if out else r"kernel_\w+"
    precisions = [precision(name).name for name in precisions]
    kinds = "|".join(map(re.escape, precisions)) or r"\w+"
    ids: dict[tuple[str, str], list[str]] = {}
    for listed, problem, ranks in selected:
        if precisions and not {*precisions} & {*problem.precisions}:
            continue
        place = rf"{problem.family}\.{CLASSES[listed]}"
        end = rf", (?:{'|'.join(map(str, ranks))})\)" if ranks else "[,)]"
        ids.setdefault((place, end), []).append(re.escape(problem.id))
    if not ids:
        return NOTHING
    places = "|".join(
        rf"{place}\.{passes}\('(?:{'|'.join(names)})', '(?:{kinds})'{end}"
        for (place, end), names in ids.items()
    )
    return rf"^(?:{places})"
