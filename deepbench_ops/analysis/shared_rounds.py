"""Verdicts on two releases from rounds that measured both, in the same seconds.

Histories are filed with their rounds (`storage.ensemble_round_files`). Where the releases before
and after a step share rounds, these say more than the processes of two days (`measure.ensemble`).
The machine may have been in several states; a verdict rests on the rounds of one of them.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from deepbench_ops.analysis.points import Point
from deepbench_ops.analysis.verdict import (
    FEWEST_ROUNDS,
    NOTHING_KNOWN,
    Verdict,
    compare_levels,
)
from deepbench_ops.conditions import CONDITIONS
from deepbench_ops.machine import machine_profile
from deepbench_ops.measure import (
    kernel_round_json,
    outside_settings,
    round_states,
)
from deepbench_ops.measure.fingerprint import SETTINGS
from deepbench_ops.measure.kernel_round import Round
from deepbench_ops.measure.kernel_task import KernelTask
from deepbench_ops.statistics.common_level import common_levels
from deepbench_ops.storage import ensemble_round_files

APART = "separate processes"
"""The origin of verdicts that rest on no shared rounds."""

NAMES = frozenset(condition.name for condition in CONDITIONS)


@dataclass(frozen=True)
class SharedStep:
    """The verdict on two releases from the rounds that have both.

    state: of the machine in these rounds, "" where it is not known. levels: of each round its id
    and the logarithm of after / before. implementations: the code that the releases ran, before and
    after, "" where that is not known.
    """

    verdict: Verdict
    state: str = ""
    levels: tuple[tuple[str, float], ...] = ()
    implementations: tuple[str, str] = ("", "")

    @property
    def origin(self) -> str:
        """The number of rounds and the state, as text: "10 shared rounds, near"."""
        state = f", {self.state}" if self.state else ""
        return f"{self.verdict.rounds} shared rounds{state}"


Shared = Mapping[KernelTask, Sequence[Round]]
"""The rounds of each kernel of a machine."""


def load(results: Path, name: str) -> dict[KernelTask, list[Round]]:
    """Return the rounds that are filed in a machine's folder of results, with their states.

    The state is that of a round's latencies, by the levels of the machine's profile and of all
    rounds. Raises DeepbenchError naming file and line.
    """
    found: dict[KernelTask, list[Round]] = defaultdict(list)
    for path in ensemble_round_files.paths(results / name):
        for task, rounds in kernel_round_json.load(path).items():
            found[task] += rounds
    every = [each for rounds in found.values() for each in rounds]
    if every:
        known = machine_profile.read(results, name)
        round_states.derive(every, known.latencies if known else ())
    return dict(found)


def between(rounds: Iterable[Round], before: Point, after: Point) -> SharedStep | None:
    """Return the step between two points of a kernel; None where they share too few rounds.

    Of several states of the machine that of the points counts, or the one with the most rounds.
    """
    names = before.release.name, after.release.name
    states: dict[str, list[tuple[Round, float, float]]] = defaultdict(list)
    for each in rounds:
        if _fits(each, before) and _fits(each, after):
            for name, part in round_states.parts(each).items():
                level, variance = part.difference(*names)
                if math.isfinite(level):
                    states[name].append((part, level, variance))
    state = round_states.most_common(name for name, each in states.items() for _ in each)
    if len(states.get(after.state, ())) >= FEWEST_ROUNDS:
        state = after.state
    found = states[state]
    if len(found) < FEWEST_ROUNDS:
        return None
    last = found[-1][0].implementations
    return SharedStep(
        compare_levels([(level, variance) for _, level, variance in found]),
        state,
        tuple((each.id, level) for each, level, _ in found),
        (last.get(names[0], ""), last.get(names[1], "")),
    )


def pooled(steps: Sequence[SharedStep]) -> Verdict:
    """Return the verdict on several kernels between the same two releases, as one.

    The round is the unit of noise (`statistics.common_level`). Rounds without an id are of one
    kernel alone.
    """
    ids = list(dict.fromkeys(name for step in steps for name, _ in step.levels))
    table = np.full((len(ids), len(steps)), math.nan)
    for column, step in enumerate(steps):
        for name, level in step.levels:
            table[ids.index(name), column] = level
    found = common_levels(table)
    if len(found.levels) < FEWEST_ROUNDS:
        return NOTHING_KNOWN
    return compare_levels(zip(found.levels.tolist(), found.variances.tolist(), strict=True))


def task_of(point: Point) -> KernelTask:
    """Return the kernel of a point, as rounds name it."""
    return KernelTask(point.family, point.problem_id, point.precision, point.operation)


def _fits(this_round: Round, point: Point) -> bool:
    """Whether a round was measured under a point's conditions; unknown settings fit all."""
    unusual = {name: value for name, value in point.unusual.items() if name != SETTINGS}
    if {name: value for name, value in this_round.conditions.items() if name in NAMES} != unusual:
        return False
    settings = this_round.conditions.get(SETTINGS)
    return (
        settings is None
        or point.settings is None
        or settings == outside_settings.text(point.settings)
    )
