"""Progress of a history while it is measured: a line a minute, and results filed now and then."""

import math
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from deepbench_ops.statistics.stopping_rule import FEWEST_FOR_WIDTH

if TYPE_CHECKING:
    from deepbench_ops.analysis.ensemble_verdicts import Goal
    from deepbench_ops.measure.kernel_identity import KernelIdentity


class HistoryProgress:
    """One line a minute: round, kernels within the goal, and time left; results every few.

    kernels: how many are measured. goal: within which. missing: returns the seconds of the rounds
    that intervals of all kernels still need. file: files results. say: prints a line.
    """

    EVERY_SECONDS = 60.0
    FILED_SECONDS = 300.0

    def __init__(
        self,
        kernels: int,
        goal: "Goal",
        missing: Callable[[], float],
        file: Callable[[], object],
        say: Callable[[str], object],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.goal, self._kernels, self._clock = goal, kernels, clock
        self._missing, self._file, self._say = missing, file, say
        self._began = self._said = self._filed = clock()
        self._round, self._in_round, self._steps = -1, 0, 0
        self._first: int | None = None

    def note(
        self, number: int, task: "KernelIdentity", still_open: "Sequence[KernelIdentity]"
    ) -> None:
        """Print the line, and file results, if the last ones are long enough ago."""
        now, self._steps = self._clock(), self._steps + 1
        if self._first is None:
            self._first = number
        elif number > self._first == self._round:
            self._warn(now - self._began)
        self._in_round = self._in_round + 1 if number == self._round else 1
        self._round = number
        if now - self._said >= self.EVERY_SECONDS:
            self._said = now
            self._say(self._line(len(still_open), now - self._began))
        if now - self._filed >= self.FILED_SECONDS:
            self._file()
            self._filed = self._clock()

    def _line(self, still_open: int, spent: float) -> str:
        """Return the state of the measurement; at most so many minutes are left as the rest of the
        rounds would take, and as the budget allows."""
        rest = max(0, (self.goal.most - self._round) * still_open) * spent / self._steps
        left = max(0.0, min(self.goal.seconds - spent, rest)) / 60
        return (
            f"round {self._round + 1}, kernel {self._in_round} of {still_open}:"
            f" {self._kernels - still_open} of {self._kernels} kernels done,"
            f" at most {left:.0f} min left"
        )

    def _warn(self, spent: float) -> None:
        """Say so, after the first round, where the budget is too short for all intervals."""
        missing = self._missing()
        if self.goal.seconds < spent + missing:
            self._say(
                f"intervals need {FEWEST_FOR_WIDTH} rounds: those that are missing take about"
                f" {missing / 60:.0f} min for all {self._kernels} kernels, more than is left, so"
                " the quickest come first. Measure fewer kernels or releases, or give --budget"
                f" {math.ceil((spent + missing) / 60)}m; the same command goes on from the last"
                " round"
            )
