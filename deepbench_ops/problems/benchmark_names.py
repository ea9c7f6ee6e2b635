"""Check that the benchmark and the parameters of a stored result are those of a kernel.

Result files may contain anything, such as benchmarks of other suites.
"""

import re
from functools import cache

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.problems.precision import ALL_PRECISIONS, MIXED
from deepbench_ops.problems.problem_ids import problem_of
from deepbench_ops.problems.problem_lists import TYPES
from deepbench_ops.problems.selections import CLASSES

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
    family, ranks = named[1], params[2:]
    counted = len(ranks) == 1 and ranks[0].isdecimal()
    if len(params) < 2 or (not counted if TYPES[family].ranks else ranks):
        return f"{', '.join(params)} are not the parameters of {family}"
    try:
        problem_of(family, params[0])
    except DeepbenchError as reason:
        return str(reason)
    known = params[1] in (*ALL_PRECISIONS, MIXED)
    return "" if known else f"no precision is called {params[1]}"


@cache
def why_not_compared(benchmark: str, problem: str, version: str | None) -> str:
    """Return the reason why a time of a version of a benchmark is not compared; "" if it is.

    version: as asv stored it, None of published times, which have none.
    """
    named = BENCHMARK.fullmatch(benchmark)
    if named is None or version in (None, problem_of(named[1], problem).version_of(named[3])):
        return ""
    return f"{benchmark} has times of an {EARLIER}"
