"""Verdicts on the releases of an ensemble, and measuring until they are certain enough.

Each round gives one ratio for every two releases, the difference of their logarithms in its sweeps
(`statistics.sweep_levels`). The ratios of all rounds are combined as those of pairs are
(`analysis.verdict`). Only rounds in one state of the machine count (`measure.preferred_state`).
"""

import math
import time
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import pairwise

from deepbench_ops.analysis.verdict import Verdict, compare_levels, corrected
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.measure import ensemble_sweeps, preferred_state
from deepbench_ops.measure.ensemble_round import Round
from deepbench_ops.measure.kernel_identity import KernelIdentity
from deepbench_ops.measure.measuring_order import MeasuringOrder
from deepbench_ops.measure.preferred_state import SelectedRounds
from deepbench_ops.measure.unfinished_rounds import RoundStore
from deepbench_ops.measure.worker_control import Launch
from deepbench_ops.statistics.stopping_rule import FEWEST_FOR_WIDTH


@dataclass(frozen=True)
class Goal:
    """Target of the measurement of a kernel.

    within: relative half-width of the 99 % interval of every release against the anchor. most:
    rounds. seconds: for all kernels together, from the beginning on; infinite for no limit.
    """

    within: float = 0.01
    most: int = 40
    seconds: float = math.inf


@dataclass
class Ensemble:
    """Releases of a history in the order of their dates, and the rounds measured.

    anchor: the release that all others are compared with, on kernels that it has. together: most
    releases that run at once. reference: the yardstick, if it takes part in the sweeps.
    """

    launches: Mapping[str, Launch]
    anchor: str
    store: RoundStore
    together: int | None = None
    reference: ensemble_sweeps.SweptYardstick | None = None
    _order: MeasuringOrder | None = field(default=None, init=False)

    @property
    def names(self) -> list[str]:
        """The releases, oldest first."""
        return list(self.launches)

    def measured(self, task: KernelIdentity) -> list[str]:
        """Return the releases that have times of a kernel, oldest first."""
        found = {name for each in self.store.of(task) for name in each.names}
        return [name for name in self.names if name in found]

    def selected(self, task: KernelIdentity) -> SelectedRounds:
        """Return the rounds of a kernel that count, which are of one state of the machine."""
        return preferred_state.select(self.store.of(task))

    def anchor_of(self, task: KernelIdentity) -> str:
        """Return the release that a kernel's others are compared with.

        The anchor, or where it lacks the kernel the release with most rounds of it.
        """
        return anchor_of(self.store.of(task), self.anchor, self.names)

    def compare(self, task: KernelIdentity, before: str, after: str) -> Verdict:
        """Return the verdict on one release's time of a kernel over another's."""
        return compare(self.selected(task).rounds, before, after)

    def against_anchor(self, task: KernelIdentity) -> dict[str, Verdict]:
        """Return the verdict on each release's time over that of `anchor_of`, of those that have
        one."""
        anchor = self.anchor_of(task)
        others = [name for name in self.measured(task) if name != anchor]
        return {name: self.compare(task, anchor, name) for name in others}

    def steps(self, task: KernelIdentity) -> dict[tuple[str, str], Verdict]:
        """Return the verdict on each release and the one before it that has the kernel."""
        return {two: self.compare(task, *two) for two in pairwise(self.measured(task))}

    def all_steps(
        self, tasks: Sequence[KernelIdentity]
    ) -> dict[tuple[KernelIdentity, str, str], Verdict]:
        """Return the verdicts of `steps` on all kernels, corrected for their number."""
        found = {(task, *two): each for task in tasks for two, each in self.steps(task).items()}
        return dict(zip(found, corrected(list(found.values())), strict=True))

    def reasons(self, task: KernelIdentity) -> dict[str, str]:
        """Return why releases have no time of a kernel."""
        measured = self.measured(task)
        found = {name: text for each in self.store.of(task) for name, text in each.reasons.items()}
        return {name: text for name, text in found.items() if name not in measured}

    def half_width(self, task: KernelIdentity) -> float:
        """Return the largest relative half-width of a kernel; infinite without any verdict.

        Also infinite where a release has its times in other states of the machine alone.
        """
        return max(map(half_width, self.against_anchor(task).values()), default=math.inf)

    def measure(
        self,
        tasks: Sequence[KernelIdentity],
        goal: Goal,
        note: Callable[
            [int, KernelIdentity, list[KernelIdentity]], object
        ] = lambda number, task, open: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Measure rounds until every kernel is within the goal, or rounds or seconds are spent.

        note: is called after each kernel of a round with the round's number and the kernels still
        open. Intervals are computed after every round from `FEWEST_FOR_WIDTH` on. A kernel ends by
        the width of its intervals, which does not make these too narrow
        (`statistics.stopping_rule`).
        Kernels whose fewest rounds do not fit into the seconds that are left wait for the others
        (`measuring_order`), and one whose round would not end in time is not begun.
        """
        began, still_open = clock(), list(tasks)
        order = self._order = MeasuringOrder(tasks, goal.seconds)
        last = began

        def left() -> float:
            return goal.seconds - (last - began)

        def seconds(task: KernelIdentity) -> float:
            return order.seconds_for(task, left())

        def needed(task: KernelIdentity) -> int:
            return max(1, self._missing(task))

        for number in range(goal.most):
            if not still_open:
                return
            for group in order.groups(still_open, left, needed):
                with closing(self._round(group, number, seconds)) as measured:
                    for task, this_round in measured:
                        last = clock()
                        if this_round.too_long:
                            if order.was_tried(task) and len(group) == 1:
                                return  # the others need even more
                            order.would_take(task, this_round.too_long)
                        else:
                            order.took(task, this_round.spent)
                            self.store.add(task, this_round)
                        note(number, task, still_open)
                        if last - began > goal.seconds:
                            return
            if number + 1 >= FEWEST_FOR_WIDTH:
                still_open = [task for task in still_open if not self._is_settled(task, goal)]

    def seconds_missing(self) -> float:
        """Return the seconds of the rounds that intervals of all kernels still need.

        As far as it is known while `measure` runs; 0 before.
        """
        return 0.0 if self._order is None else self._order.seconds_of(self._missing)

    def _missing(self, task: KernelIdentity) -> int:
        """Return how many rounds an interval of a kernel still needs."""
        return max(0, FEWEST_FOR_WIDTH - self.store.count(task))

    def _round(
        self,
        tasks: Sequence[KernelIdentity],
        number: int,
        seconds: Callable[[KernelIdentity], float],
    ) -> Generator[tuple[KernelIdentity, Round], None, None]:
        """Measure a round of the kernels that lack one, of the releases that lack it.

        Another kernel is the first in each round: the first one that a process prepares also pays
        for the start of its framework.
        """
        together: dict[tuple[str, tuple[str, ...]], list[KernelIdentity]] = {}
        for task in tasks:
            if lacking := self.store.lacking(task, number):
                anchor = self.anchor_of(task)
                together.setdefault((anchor, self._block(anchor, lacking)), []).append(task)
        for (anchor, names), members in together.items():
            first = number % len(members)
            launches = {name: self.launches[name] for name in names}
            yield from ensemble_sweeps.run_round(
                launches,
                [*members[first:], *members[:first]],
                number,
                anchor,
                self.together,
                reference=self.reference,
                seconds=seconds,
            )

    def _block(self, anchor: str, lacking: Sequence[str]) -> tuple[str, ...]:
        """Return releases that lack a round, with the anchor and the release before each."""
        names = self.names
        wanted = {anchor, *lacking}
        wanted |= {names[max(0, names.index(name) - 1)] for name in lacking}
        return tuple(name for name in names if name in wanted)

    def _is_settled(self, task: KernelIdentity, goal: Goal) -> bool:
        """Whether a kernel needs no more rounds: it is within the goal, or cannot be measured."""
        rounds = self.store.of(task)
        if not any(each.sweeps for each in rounds):
            return bool(rounds)  # without any it waits for the others
        return self.half_width(task) <= goal.within


def anchor_of(rounds: Sequence[Round], anchor: str, names: Sequence[str]) -> str:
    """Return the anchor of a kernel's rounds: `anchor`, unless others of `names` alone have times.

    Then that with times in most rounds of the state that counts, the last one of several.
    """
    measured = {name for each in rounds for name in each.names}
    others = [name for name in names if name in measured]
    if anchor in others or not others:
        return anchor
    counted = preferred_state.select(rounds).rounds
    counts = Counter(name for each in counted for name in each.names)
    return max(reversed(others), key=counts.__getitem__)


def compare(rounds: Sequence[Round], before: str, after: str, share: float = 1.0) -> Verdict:
    """Return the verdict on after / before from the rounds of an ensemble that have both.

    `share` is that of the look, where there are several (see `statistics.stopping_rule`).
    """
    return compare_levels([each.difference(before, after) for each in rounds], share)


def compare_in_one_state(
    rounds: Sequence[Round], before: str, after: str, share: float = 1.0
) -> Verdict:
    """Return the verdict of `compare` from the rounds of the most frequent state of the machine."""
    preferred_state.derive(rounds)
    return compare(preferred_state.select(rounds).rounds, before, after, share)


def half_width(verdict: Verdict) -> float:
    """Return half the width of a verdict's interval as a share of its ratio.

    Infinite where there is no interval, as of fewer than three rounds.
    """
    if not (verdict.low > 0 and math.isfinite(verdict.high)):
        return math.inf
    return max(verdict.high / verdict.ratio - 1, 1 - verdict.low / verdict.ratio)


def demand_two(launches: Mapping[str, Launch], reasons: Mapping[str, str]) -> None:
    """Raise DeepbenchError where fewer than two releases can be measured."""
    if len(launches) < 2:
        why = "; ".join(f"{name}: {text}" for name, text in reasons.items())
        raise DeepbenchError(
            "a history compares two releases or more, and "
            + (f"only {next(iter(launches))} is left" if launches else "none is left")
            + (f" ({why})" if why else "")
        )
