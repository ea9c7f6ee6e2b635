"""Search for the first slow release by bisection, in shared rounds until each step is certain.

All are compared with the first release. A release is slow from half-way (by the ratio) between the
first and the last. A comparison ends as soon as its interval lies on one side of that; looking
several times finds no more in noise than looking once (`statistics.stopping_rule`).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from deepbench_ops.analysis.ensemble_verdicts import compare_in_one_state
from deepbench_ops.analysis.verdict import Verdict, settled
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.measure.ensemble_round import Round
from deepbench_ops.releases.release_table import Release
from deepbench_ops.statistics.stopping_rule import looks

Measure = Callable[[Release, Release, int, int], list[Round]]
"""Returns so many rounds of two releases by their names, given the number of the first round;
DeepbenchError where one cannot be measured."""


@dataclass(frozen=True)
class BisectionStep:
    """One measured release: its ratio to the first one, and the conclusion."""

    release: Release
    verdict: Verdict
    slow: bool | None
    """None where the rounds allowed did not decide it."""


@dataclass
class Bisection:
    """Result of a search for the first slow release.

    first_slow: None where the last release is not slower, or where that stays open. sure: whether
    every step was certain. left_out: releases that could not be measured, with the reasons.
    """

    steps: list[BisectionStep] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    last_good: Release | None = None
    first_slow: Release | None = None

    @property
    def sure(self) -> bool:
        """Whether every step was decided."""
        return all(step.slow is not None for step in self.steps)


def bisect(
    releases: Sequence[Release],
    measure: Measure,
    most: int,
    say: Callable[[BisectionStep], object] = lambda step: None,
) -> Bisection:
    """Return the first release that is slow, among releases in order, oldest first.

    `most` is the largest number of rounds for a comparison. Raises DeepbenchError where there
    are fewer than two releases, or the first or the last cannot be measured.
    """
    if len(releases) < 2:
        raise DeepbenchError("two releases or more are needed, the older one first")
    found = Bisection()
    first, *others = releases
    whole = _compare(first, others[-1], measure, most, 1.0)
    slow = {"slower": True, "faster": False, "same": False}.get(whole.kind)
    _note(found, BisectionStep(others[-1], whole, slow), say)
    if not slow:
        return found
    found.last_good, found.first_slow = first, others.pop()
    while others:
        middle = others.pop(len(others) // 2)
        place = releases.index(middle)
        halfway = math.sqrt(whole.ratio)
        try:
            verdict = _compare(first, middle, measure, most, halfway)
        except DeepbenchError as reason:
            found.left_out[middle.name] = str(reason)
            continue
        side = _side(verdict, halfway)
        _note(found, BisectionStep(middle, verdict, side), say)
        if side is None:
            break
        if side:
            found.first_slow = middle
            others = [one for one in others if releases.index(one) < place]
        else:
            found.last_good = middle
            others = [one for one in others if releases.index(one) > place]
    return found


def _compare(
    before: Release, after: Release, measure: Measure, most: int, boundary: float
) -> Verdict:
    """Return the verdict on two releases, with as many rounds as it takes to be sure."""
    rounds: list[Round] = []
    for look in looks(most):
        rounds += measure(before, after, look.rounds - len(rounds), len(rounds))
        verdict = compare_in_one_state(rounds, before.name, after.name, look.share)
        if _side(verdict, boundary) is not None or (boundary == 1.0 and settled(verdict)):
            break
    return verdict


def _side(verdict: Verdict, boundary: float) -> bool | None:
    """Return whether the interval lies above the boundary, None where it holds it."""
    if verdict.low > boundary:
        return True
    return False if verdict.high < boundary else None


def _note(found: Bisection, step: BisectionStep, say: Callable[[BisectionStep], object]) -> None:
    found.steps.append(step)
    say(step)
