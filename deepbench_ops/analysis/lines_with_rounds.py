"""Lines with the verdicts of shared rounds on their steps."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from deepbench_ops.analysis.lines import Line
from deepbench_ops.analysis.shared_rounds import Shared, SharedStep, between, task_of
from deepbench_ops.analysis.verdict import corrected


def joined(lines: Sequence[Line], rounds: Shared) -> list[Line]:
    """Return the lines with the verdicts of shared rounds, corrected for their number."""
    found: dict[tuple[int, int], SharedStep] = {}
    for place, line in enumerate(lines):
        mine = rounds.get(task_of(line.points[0]), ()) if line.measured else ()
        if mine and line.points[0].ranks is None:
            for number, (before, after) in enumerate(pairwise(line.steady)):
                step = between(mine, before, after)
                if step is not None:
                    found[place, number] = step
    verdicts = corrected([step.verdict for step in found.values()])
    steps: dict[int, dict[int, SharedStep]] = defaultdict(dict)
    for ((place, number), step), verdict in zip(found.items(), verdicts, strict=True):
        steps[place][number] = replace(step, verdict=verdict)
    return [
        replace(line, shared=tuple(sorted(steps[place].items()))) if place in steps else line
        for place, line in enumerate(lines)
    ]
