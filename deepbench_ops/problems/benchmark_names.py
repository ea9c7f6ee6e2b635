"""Check that the benchmark and parameters of a stored or sent result are those of a kernel.

Result files may contain anything, such as benchmarks of other suites.
"""

import re
from functools import cache

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.problems import size_checks
from deepbench_ops.problems.collective import Collective
from deepbench_ops.problems.precision import MIXED, PRECISIONS
from deepbench_ops.problems.problem import Problem
from deepbench_ops.problems.problem_ids import problem_of
from deepbench_ops.problems.problem_lists import TYPES
from deepbench_ops.problems.selections import CLASSES
from deepbench_ops.problems.suggestions import unknown

SET_OF_CLASS = {kind: name for name, kind in CLASSES.items()}
BENCHMARK = re.compile(
    rf"({'|'.join(TYPES)})\.({'|'.join(SET_OF_CLASS)})\.kernel_([a-z][a-z0-9_]*)"
)
"""Name of a benchmark: family, class and operation."""


FOREIGN = "is a benchmark of another suite"
"""End of the reason for benchmarks whose names do not begin with a family, such as a user's own."""


EARLIER = "earlier version of its benchmark, which did other work: asv run measures it again"
"""End of the reason for times that do not compare with those of today's version."""


@cache
def why_not(benchmark: str, params: tuple[str, ...]) -> str:
    """Return the reason why a benchmark with these parameters is no kernel; "" if it is one.

    params: without the quotes that asv puts around texts.
    """
    named = BENCHMARK.fullmatch(benchmark)
    if named is None and benchmark.partition(".")[0] not in TYPES:
        return f"{benchmark} {FOREIGN}"
    if named is None:
        return f"no benchmark is called {benchmark}"
    try:
        refuse_unknown_kernel(named[1], named[3], params)
    except DeepbenchError as reason:
        return str(reason)
    return ""


def refuse_unknown_kernel(family: str, operation: str, params: tuple[str, ...]) -> None:
    """Raise DeepbenchError unless a family has this operation and a kernel of these parameters.

    params: problem, precision and, where a family has them, ranks, as in `why_not`.
    """
    kind = TYPES[family]
    axes = 3 if kind.ranks else 2
    if len(params) != axes:
        raise DeepbenchError(
            f"{', '.join(params)} are not the parameters of {family}: it has {axes}"
        )
    problem = problem_of(family, params[0])
    operations = _stored_operations(kind)
    if operation not in operations:
        raise unknown(f"operation of {family}", operation, operations)
    refuse_unknown_precision(kind, params[1])
    for ranks in params[2:]:
        _refuse_ranks(problem, ranks)


def refuse_unknown_precision(kind: type[Problem], precision: str) -> None:
    """Raise DeepbenchError for a precision at which a family is neither measured nor published:
    DeepBench's sheets have PRECISIONS and MIXED."""
    published = (*PRECISIONS, MIXED) if kind.sheets is not None else ()
    known = tuple(dict.fromkeys((*kind.precisions, *published)))
    if precision not in known:
        raise unknown(f"precision of {kind.family}", precision, known)


def _stored_operations(kind: type[Problem]) -> tuple[str, ...]:
    """Return the operations whose times results may have: those that are measured, and those of
    published sheets."""
    published = kind.sheets.times.values() if kind.sheets is not None else ()
    return tuple(dict.fromkeys((*kind.operations, *kind.uncompared, *published)))


def _refuse_ranks(problem: Problem, text: str) -> None:
    """Raise DeepbenchError for a number of ranks in another spelling than asv's, or on which the
    problem cannot be."""
    name = f"the number of ranks of {problem.family}"
    ranks = int(size_checks.size(name, text))
    if text != str(ranks):
        raise DeepbenchError(f"{name} is {text!r}: write {ranks}")
    if isinstance(problem, Collective) and (reason := problem.indivisible(ranks)):
        raise DeepbenchError(reason)


@cache
def why_not_compared(benchmark: str, problem: str, version: str | None) -> str:
    """Return the reason why a time of a version of a benchmark is not compared; "" if it is.

    version: as asv stored it, None of published times, which have none.
    """
    named = BENCHMARK.fullmatch(benchmark)
    if named is None or version in (None, problem_of(named[1], problem).version_of(named[3])):
        return ""
    return f"{benchmark} has times of an {EARLIER}"
