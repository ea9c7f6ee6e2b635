"""Selections: named parts of the lists, for runs that would take too long with all problems.

`headline` holds the problems that each family declares: of DeepBench's families those in the tables
of its README, of today's operations about two each. Each set of the lists is a selection too. A
family may declare others of its own: of whole models one batch of each network. A problem can be in
two sets, and each is its own benchmark, so a selection holds pairs of set and problem.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from deepbench_ops.problems.precision import precision
from deepbench_ops.problems.problem import FIRST_CALL, INCLUDED, OPERATIONS_SUFFIX, SETS, Problem
from deepbench_ops.problems.problem_lists import FAMILIES, TYPES, family_name, find, load, set_name
from deepbench_ops.problems.suggestions import unknown

OF_A_FAMILY = {
    name: (family, listed)
    for family, kind in TYPES.items()
    for name, listed in kind.selections.items()
}
"""Selections that a family declares for itself: the family, and the set that each is taken from."""

SELECTIONS = ("headline", *(name.replace("_", "-") for name in SETS), *OF_A_FAMILY)
CLASSES = {name: name.title().replace("_", "") for name in SETS}
"""The class of benchmarks of each set: Training, InferenceServer, ModernFull ..."""
FUSED = "fused"
"""How the names of operations begin that are a framework's own layers."""
NOTHING = "(?!)"
"""The regular expression that picks no benchmark."""


class Selected(NamedTuple):
    """One problem in a set that measures it; of an all-reduce, on these numbers of ranks.

    ranks: () for all there are, and for what runs in one process.
    """

    set: str
    problem: Problem
    ranks: tuple[int, ...] = ()


def select(name: str, family: str | None = None) -> tuple[Selected, ...]:
    """The members of a selection, of all families of kernels or of one.

    DeepbenchError for a name that is not in SELECTIONS (dashes or underscores), or a family
    that does not exist. A family without members in the selection gives ().
    """
    wanted = selection_name(name)
    if wanted in OF_A_FAMILY:
        own, listed = OF_A_FAMILY[wanted]
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
    """Return the operations of a problem that are compared, frameworks' own layers if `fused`."""
    return tuple(
        operation
        for operation in problem.timed_operations
        if operation not in problem.uncompared and (fused or not operation.startswith(FUSED))
    )


def selection_name(name: str) -> str:
    """The selection's name as spelt in SELECTIONS; DeepbenchError when there is none."""
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
    """A regular expression for `asv run --bench` that picks exactly these members.

    asv searches it in `gemm.Training.kernel_forward('m1760_n128_k1760_NN', 'float32')`: the
    benchmark's name, then the repr of each parameter. Every pass of a problem is picked, a
    framework's own fused layers where `fused`, compiling where `first_call`, what its operations
    take alone where `apart`, and every precision when none is named. It never picks the same id in
    another set. Where no member has a benchmark at these precisions, it is NOTHING.
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
