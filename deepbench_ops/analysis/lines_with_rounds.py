"""Lines with the verdicts of shared rounds on their steps, each kernel once."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from deepbench_ops.analysis import shared_rounds
from deepbench_ops.analysis.kernel_lines import Line
from deepbench_ops.analysis.points import Point
from deepbench_ops.analysis.pooled_sets import same_kernel
from deepbench_ops.analysis.shared_rounds import Shared, SharedStep, task_of
from deepbench_ops.analysis.verdict import corrected
from deepbench_ops.measure.ensemble_round import Round


def joined(lines: Sequence[Line], rounds: Shared) -> list[Line]:
    """Return the lines with the verdicts of shared rounds, corrected for their number.

    Lines that repeat each other count as one (see `distinct`).
    """
    if not rounds:
        return list(lines)
    asked: dict[tuple[Hashable, int], tuple[Sequence[Round], Point, Point]] = {}
    for own, line in _first_of_each(lines).items():
        mine = rounds.get(task_of(line.points[0]), ()) if line.measured else ()
        if mine and line.points[0].ranks is None:
            for number, (before, after) in enumerate(pairwise(line.steady)):
                asked[own, number] = mine, before, after
    judged = zip(asked, shared_rounds.steps(asked.values()), strict=True)
    found = {key: step for key, step in judged if step is not None}
    verdicts = corrected([step.verdict for step in found.values()])
    steps: dict[Hashable, dict[int, SharedStep]] = defaultdict(dict)
    for ((line_of, number), step), verdict in zip(found.items(), verdicts, strict=True):
        steps[line_of][number] = replace(step, verdict=verdict)
    return [
        replace(line, shared=tuple(sorted(steps[own].items())))
        if (own := _identity(line)) in steps
        else line
        for line in lines
    ]


def distinct(lines: Iterable[Line]) -> list[Line]:
    """Return the lines without those that repeat another one.

    A history files the rounds of a kernel in every set that lists it: the line of its first set
    stands for all. Sets that were measured by processes of their own stay apart.
    """
    return list(_first_of_each(lines).values())


def _first_of_each(lines: Iterable[Line]) -> dict[Hashable, Line]:
    """Return the line of the first set by the identity of each line."""
    found: dict[Hashable, Line] = {}
    for line in lines:
        own = _identity(line)
        if own not in found or line.points[0].set < found[own].points[0].set:
            found[own] = line
    return found


def _identity(line: Line) -> Hashable:
    """Return the same value for lines that hold the same rounds, in sets of their own."""
    first = line.points[0]
    once = all(point.ensemble for point in line.points)
    return (
        first.machine,
        first.release.framework,
        first.device,
        same_kernel(first),
        "" if once else first.set,
        line.state,
        tuple(point.release.hash for point in line.steady),
    )
