"""Match of published rows to our problems, and to the published list that they were run from."""

from collections.abc import Iterable

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange.workbooks.workbook_timings import SET, SPECS, Timing
from deepbench_ops.problems.problem import DEEPBENCH_SETS, Problem
from deepbench_ops.problems.problem_lists import named


def listed_problem(printed: Problem) -> Problem:
    """Return the listed problem that was run, or `printed` itself where no list has it.

    The lists know the misprints: sizes that the sheets print otherwise than the programs ran them.
    A size that neither has, with FLOPS in its row that fit it, was really run: it keeps its own id,
    and its note says so where the workbook is one of DeepBench's.
    """
    return named(printed.family).get(printed.id, printed)


def is_listed(problem: Problem) -> bool:
    """Whether the published program lists have this problem."""
    return bool(named(problem.family).get(problem.id, problem).sets)


def set_of(timings: Iterable[Timing]) -> str:
    """Return the published set whose problems these are.

    That is the one with most of them; backward passes and operations between processes are
    found in training alone.
    Raises DeepbenchError where no set has any, and for a problem that only other sets list: these
    cannot be inferred.
    """
    found = dict.fromkeys(DEEPBENCH_SETS, 0)
    for timing in timings:
        if timing.problem.ranks:
            return DEEPBENCH_SETS[0]
        sets = listed_problem(timing.problem).sets
        published = [name for name in sets if name in found]
        if sets and not published:
            raise DeepbenchError(
                f"{timing.place}: {timing.problem.id} is of the set {sets[0]}, which is none of the"
                f" published lists: write {SET} and its name in a line of the sheet {SPECS}"
            )
        if "backward" in timing.operation:
            return DEEPBENCH_SETS[0]
        for name in published:
            found[name] += 1
    # Of two that have as many, the smaller list is the closer description.
    best = max(reversed(DEEPBENCH_SETS), key=lambda name: found[name])
    if not found[best]:
        raise DeepbenchError("its sizes are in none of the published lists")
    return best
