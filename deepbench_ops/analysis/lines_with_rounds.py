"""Lines with the verdicts of shared rounds on their steps, each kernel once."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
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

    Lines of the same rounds count as one (see `distinct`).
    """
    if not rounds:
        return list(lines)
    asked: dict[tuple[Hashable, str, str], tuple[Sequence[Round], Point, Point]] = {}
    for line in lines:
        mine = rounds.get(task_of(line.points[0]), ()) if line.measured else ()
        if mine and line.points[0].ranks is None:
            for step, before, after in _steps(line):
                asked.setdefault(step, (mine, before, after))
    judged = zip(asked, shared_rounds.steps(asked.values()), strict=True)
    found = {key: step for key, step in judged if step is not None}
    verdicts = corrected([step.verdict for step in found.values()])
    known = {
        key: replace(step, verdict=verdict)
        for (key, step), verdict in zip(found.items(), verdicts, strict=True)
    }
    return [_with(line, known) for line in lines]


def _with(line: Line, known: Mapping[tuple[Hashable, str, str], SharedStep]) -> Line:
    """Return the line with the known verdicts on its steps."""
    steps = enumerate(step for step, _, _ in _steps(line))
    shared = tuple((place, known[step]) for place, step in steps if step in known)
    return replace(line, shared=shared) if shared else line


def _steps(line: Line) -> Iterator[tuple[tuple[Hashable, str, str], Point, Point]]:
    """Yield the steps of a line: a key that lines of the same rounds share, and both points."""
    own = _identity(line)
    for before, after in pairwise(line.steady):
        yield (own, before.release.hash, after.release.hash), before, after


def distinct(lines: Iterable[Line]) -> list[Line]:
    """Return the lines without those that repeat another one.

    A history files the rounds of a kernel in every set that lists it. The line with the most points
    stands for all of them; of equally long ones, that of the first set. Sets without such rounds
    were measured by processes of their own, and stay apart.
    """
    found: dict[Hashable, Line] = {}
    for line in lines:
        with_rounds = any(point.ensemble for point in line.points)
        own = _identity(line) if with_rounds else id(line)  # nothing repeats one without rounds
        if own not in found or _rank(line) < _rank(found[own]):
            found[own] = line
    return list(found.values())


def _rank(line: Line) -> tuple[int, str]:
    return -len(line.points), line.points[0].set


def _identity(line: Line) -> Hashable:
    """Return the same value for lines that hold the same rounds, in sets of their own."""
    first = line.points[0]
    together = tuple(point.release.hash for point in line.steady if point.ensemble)
    return (
        first.machine,
        first.release.framework,
        first.device,
        same_kernel(first),
        line.state,
        frozenset(point.settings for point in line.points) - {None},
        together or (first.set, *(point.release.hash for point in line.steady)),
    )
