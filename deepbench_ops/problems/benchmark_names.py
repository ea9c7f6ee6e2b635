"""Check that the benchmark and parameters of a stored or sent result are those of a kernel.

Result files may contain anything, such as benchmarks of other suites.
"""

import re
from functools import cache

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.problems.precision import ALL_PRECISIONS, MIXED
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
    axes, ranks = (3 if kind.ranks else 2), params[2:]
    if len(params) != axes or (ranks and not ranks[0].isdecimal()):
        raise DeepbenchError(
            f"{', '.join(params)} are not the parameters of {family}: it has {axes}"
        )
    problem_of(family, params[0])
    for what, name, known in (
        (f"operation of {family}", operation, stored_operations(kind)),
        ("precision", params[1], (*ALL_PRECISIONS, MIXED)),
    ):
        if name not in known:
            raise unknown(what, name, known)


def stored_operations(kind: type[Problem]) -> tuple[str, ...]:
    """Return the operations whose times results may have: those that are measured, and those of
    published sheets."""
    published = kind.sheets.times.values() if kind.sheets is not None else ()
    return tuple(dict.fromkeys((*kind.operations, *kind.uncompared, *published)))


@cache
def why_not_compared(benchmark: str, problem: str, version: str | None) -> str:
    """Return the reason why a time of a version of a benchmark is not compared; "" if it is.

    version: as asv stored it, None of published times, which have none.
    """
    named = BENCHMARK.fullmatch(benchmark)
    if named is None or version in (None, problem_of(named[1], problem).version_of(named[3])):
        return ""
    return f"{benchmark} has times of an {EARLIER}"
