"""data/operations: every problem of the lists with its FLOPs and bytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deepbench_ops.analysis.kernel_lines import Line
from deepbench_ops.pages.addresses import timeline_fragment
from deepbench_ops.problems.problem import Problem
from deepbench_ops.problems.problem_lists import TYPES, load
from deepbench_ops.problems.selections import operations


def content(longest: Mapping[tuple[str, str], Line]) -> list[dict[str, Any]]:
    """The families in their order, each with its precisions and problems.

    A problem has its FLOPs by operation, its bytes by operation and precision, and the address of
    the timeline that shows it (null if it was not measured). A family says in which precision it
    multiplies at each of its precisions, and so does a problem that differs from its first one.

    longest: the line of each problem that was measured, by family and id.
    """
    found = []
    for name, kind in TYPES.items():
        problems = load(name)
        usual = _multiplied(problems[0])
        found.append(
            {
                "family": name,
                "precisions": list(kind.precisions),
                "multiplied": usual,
                "operations": list(dict.fromkeys(o for p in problems for o in operations(p))),
                "problems": [
                    _row(problem, longest.get((name, problem.id)), usual) for problem in problems
                ],
            }
        )
    return found


def _multiplied(problem: Problem) -> dict[str, str]:
    return {each: problem.multiplied(each) for each in problem.precisions}


def _row(problem: Problem, line: Line | None, usual: Mapping[str, str]) -> dict[str, Any]:
    own, multiplied = operations(problem), _multiplied(problem)
    return {
        "id": problem.id,
        "title": problem.title,
        "application": problem.application,
        "source": problem.source,
        "note": problem.note,
        "sets": list(problem.sets),
        "items": problem.items,
        "flops": {operation: problem.flops_of(operation) for operation in own},
        "bytes": {
            operation: [problem.bytes_of(precision, operation) for precision in problem.precisions]
            for operation in own
        },
        "at": timeline_fragment(line.points[-1]) if line else None,
        **({} if multiplied == usual else {"multiplied": multiplied}),
    }
