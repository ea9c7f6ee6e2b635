"""Verdicts on two releases from rounds that measured both.

Histories are filed with their rounds (`storage.ensemble_round_files`). Where the releases before
and after a step share rounds, verdicts use them: they are more precise than processes of two days
(`measure.ensemble_sweeps`). The machine may have been in several states; a verdict rests on the
rounds of one of them.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from deepbench_ops.analysis.points import Point
from deepbench_ops.analysis.verdict import (
    FEWEST_ROUNDS,
    NOTHING_KNOWN,
    Verdict,
    compare_each,
    compare_levels,
)
from deepbench_ops.machine import machine_profile
from deepbench_ops.measure import (
    ensemble_round_json,
    library_variables,
    preferred_state,
)
from deepbench_ops.measure.ensemble_round import Round, fit_together
from deepbench_ops.measure.fingerprint import SETTINGS, THREADS
from deepbench_ops.measure.kernel_identity import KernelIdentity
from deepbench_ops.statistics.common_level import common_levels
from deepbench_ops.storage import ensemble_round_files

SEPARATE_PROCESSES = "separate processes"
"""The origin of verdicts that rest on no shared rounds."""


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


Shared = Mapping[KernelIdentity, Sequence[Round]]
"""The rounds of each kernel of a machine."""


def load(
    results: Path, name: str, paths: Iterable[Path] | None = None
) -> dict[KernelIdentity, list[Round]]:
    """Return the rounds that are filed in a machine's folder of results, with their states.

    paths: the files of rounds, all of the machine if None. The state is that of a round's
    latencies, by the levels of the machine's profile and of all these rounds. Raises DeepbenchError
    naming file and line.
    """
    found: dict[KernelIdentity, list[Round]] = defaultdict(list)
    for path in ensemble_round_files.paths(results / name) if paths is None else paths:
        for task, rounds in ensemble_round_json.load(path).items():
            found[task] += rounds
    every = [each for rounds in found.values() for each in rounds]
    if every:
        known = machine_profile.read(results, name)
        preferred_state.derive(every, known.latencies if known else ())
    return dict(found)


def load_of_several_frameworks(results: Path, name: str) -> dict[KernelIdentity, list[Round]]:
    """Return the rounds of a machine that measured several frameworks; see `load`."""
    path = ensemble_round_files.path_of(results / name, ensemble_round_files.SEVERAL)
    return load(results, name, [path])


def steps(asked: Iterable[tuple[Sequence[Round], Point, Point]]) -> list[SharedStep | None]:
    """Return the step between two points of a kernel, for each of several; None where they share
    too few rounds.

    Of several states of the machine that of the points counts, or the one with the most rounds. The
    steps are judged together, in a fraction of the time of one after the other.
    """
    asked = list(asked)
    every = chain.from_iterable(rounds for rounds, _, _ in asked)
    fit_together(chain.from_iterable(preferred_state.parts(each).values() for each in every))
    found = [_unjudged(*each) for each in asked]
    known = [each for each in found if each is not None]
    verdicts = iter(compare_each([levels for _, levels in known]))
    return [None if each is None else replace(each[0], verdict=next(verdicts)) for each in found]


def _unjudged(
    rounds: Iterable[Round], before: Point, after: Point
) -> tuple[SharedStep, list[tuple[float, float]]] | None:
    """Return a step without its verdict, and the level of each round with its variance."""
    names = before.release.name, after.release.name
    states: dict[str, list[tuple[Round, float, float]]] = defaultdict(list)
    conditions = [_conditions(point) for point in (before, after)]
    if conditions[0] == conditions[1]:
        conditions.pop()
    for each in rounds:
        if all(_fits(each, *under) for under in conditions):
            for name, part in preferred_state.parts(each).items():
                level, variance = part.difference(*names)
                if math.isfinite(level):
                    states[name].append((part, level, variance))
    state = preferred_state.most_common(name for name, each in states.items() for _ in each)
    if len(states.get(after.state, ())) >= FEWEST_ROUNDS:
        state = after.state
    found = states[state]
    if len(found) < FEWEST_ROUNDS:
        return None
    last = found[-1][0].implementations
    step = SharedStep(
        NOTHING_KNOWN,
        state,
        tuple((each.id, level) for each, level, _ in found),
        (last.get(names[0], ""), last.get(names[1], "")),
    )
    return step, [(level, variance) for _, level, variance in found]


class JudgedSteps:
    """Steps between points of a machine, from the rounds that measured both, each judged once."""

    def __init__(self, rounds: Shared) -> None:
        self._rounds = rounds
        self._known: dict[tuple[int, int], tuple[Point, Point, SharedStep | None]] = {}

    def judge(self, pairs: Iterable[tuple[Point, Point]]) -> None:
        """Judge the steps from the first to the second of each two points together (`steps`)."""
        asked = {}
        for before, after in pairs:
            rounds = () if before.ranks is not None else self._rounds.get(task_of(before), ())
            if rounds and (id(before), id(after)) not in self._known:
                asked[id(before), id(after)] = rounds, before, after
        for key, step in zip(asked, steps(asked.values()), strict=True):
            self._known[key] = *asked[key][1:], step

    def between(self, before: Point, after: Point) -> SharedStep | None:
        """Return the step between two points of a kernel; None where they share too few rounds."""
        self.judge([(before, after)])
        *_, step = self._known.get((id(before), id(after)), (None,))
        return step


class Pooled(NamedTuple):
    """The verdict on several kernels as one, and how many of them count in it."""

    verdict: Verdict
    kernels: int


def pooled(steps: Sequence[SharedStep]) -> Pooled:
    """Return the verdict on several kernels between the same two releases, as one.

    The round is the unit of noise, and kernels whose own ratio is uncertain do not count
    (`statistics.common_level`). Rounds without an id are of one kernel alone.
    """
    ids = list(dict.fromkeys(name for step in steps for name, _ in step.levels))
    table = np.full((len(ids), len(steps)), math.nan)
    for column, step in enumerate(steps):
        for name, level in step.levels:
            table[ids.index(name), column] = level
    found = common_levels(table)
    if len(found.levels) < FEWEST_ROUNDS:
        return Pooled(NOTHING_KNOWN, 0)
    levels = zip(found.levels.tolist(), found.variances.tolist(), strict=True)
    return Pooled(compare_levels(levels), int(found.counted.sum()))


def task_of(point: Point) -> KernelIdentity:
    """Return the kernel of a point, as rounds name it."""
    return KernelIdentity(point.family, point.problem_id, point.precision, point.operation)


def _conditions(point: Point) -> tuple[dict[str, str], dict[str, str]]:
    """Return the unusual conditions of a point, and those of its settings and threads that are
    known."""
    unusual = {name: value for name, value in point.unusual.items() if name != SETTINGS}
    known = {THREADS: point.threads} if point.threads else {}
    if point.settings is not None:
        known[SETTINGS] = library_variables.text(point.settings)
    return unusual, known


def _fits(this_round: Round, unusual: Mapping[str, str], known: Mapping[str, str]) -> bool:
    """Whether a round was measured under a point's conditions; unknown ones fit all."""
    own = this_round.conditions
    return unusual == this_round.unusual and all(
        own.get(name, text) == text for name, text in known.items()
    )
