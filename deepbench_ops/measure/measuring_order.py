"""Order in which the kernels of a history are measured, so that its time settles most of them.

An interval needs some rounds: a kernel whose fewest rounds do not fit into the time that is left
would only take it from others. So the kernels that cost least have their rounds first, and others
join when there is time for theirs.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

from deepbench_ops.measure.kernel_identity import KernelIdentity
from deepbench_ops.problems.problem_ids import problem_of
from deepbench_ops.statistics.stopping_rule import FEWEST_FOR_WIDTH

PARTS = 2
"""So many equal parts of the seconds may the fewest rounds of a kernel take that is tried for the
first time."""

ALIKE = 4.0
"""Kernels whose work differs by less than this factor are measured together for the first time: the
time of the last ones tells how long the next ones will take."""


@cache
def work(task: KernelIdentity) -> float:
    """Return the FLOPs of a kernel, or its bytes where nothing is computed."""
    problem = problem_of(task.family, task.problem)
    return problem.amount_of_work(task.precision, task.operation)


class MeasuringOrder:
    """Shares seconds among kernels; those that cost most come last.

    tasks: all kernels of a history. seconds: for all of them together, infinite for no limit.
    amount: the work of a kernel, which need not be comparable between families.
    """

    def __init__(
        self,
        tasks: Sequence[KernelIdentity],
        seconds: float,
        amount: Callable[[KernelIdentity], float] = work,
    ) -> None:
        self._tasks, self._seconds = tasks, seconds
        self._first_try = PARTS * seconds / max(1, len(tasks)) / FEWEST_FOR_WIDTH
        self._of_round: dict[KernelIdentity, float] = {}
        self._in_rounds, self._groups_begun = 0.0, 0
        self._work = amount

    def took(self, task: KernelIdentity, seconds: float) -> None:
        """Note the seconds of one more round of a kernel."""
        self._in_rounds += seconds
        self.would_take(task, seconds)

    def would_take(self, task: KernelIdentity, seconds: float) -> None:
        """Note the seconds of a round that was not measured, because it takes so long.

        The shortest round counts: others were disturbed, and the first one checks small problems.
        """
        self._of_round[task] = min(seconds, self._of_round.get(task, math.inf))

    def was_tried(self, task: KernelIdentity) -> bool:
        """Return whether the seconds of a kernel are known."""
        return task in self._of_round

    def seconds_for(self, task: KernelIdentity, left: float) -> float:
        """Return the seconds that the next round of a kernel may take, of those that are left.

        The first kernel, which has the least work, may take any time. Others have a limit when they
        are tried, unless an estimate says that they need more, and their time has come.
        """
        if not self._of_round:
            return math.inf
        unknown = not self.was_tried(task) and self.expected(task) <= self._first_try
        return min(self._first_try, left) if unknown else left

    def groups(
        self,
        still_open: Sequence[KernelIdentity],
        left: Callable[[], float] = lambda: math.inf,
        needed: Callable[[KernelIdentity], int] = lambda task: 1,
    ) -> Iterator[list[KernelIdentity]]:
        """Yield kernels that are to be measured once more, group by group.

        First those that have been measured, then the others by their work, each group after the one
        before it has been measured; of both those that `affordable` names. Where there are none,
        the kernel that costs least.

        left: the seconds that are left now. needed: how many more rounds a kernel needs at least.
        """
        nothing_yet = True
        for group in self._groups(still_open):
            affordable = self.affordable(still_open, left(), needed)
            if chosen := [task for task in group if task in affordable]:
                nothing_yet = False
                self._groups_begun += 1
                yield chosen
        if nothing_yet:
            self._groups_begun += 1
            yield [min(still_open, key=self.expected)]

    def affordable(
        self,
        tasks: Iterable[KernelIdentity],
        left: float,
        needed: Callable[[KernelIdentity], int],
    ) -> set[KernelIdentity]:
        """Return the kernels whose rounds fit into the seconds that are left, cheapest first.

        All chosen ones have a round as long as any of them needs one.
        """
        if math.isinf(left):
            return set(tasks)
        of_round, rounds = self._start(left), 0
        chosen = set()
        for task in sorted(tasks, key=self.expected):
            seconds, most = of_round + self.expected(task), max(rounds, needed(task))
            if most * seconds <= left:
                of_round, rounds = seconds, most
                chosen.add(task)
        return chosen

    def expected(self, task: KernelIdentity) -> float:
        """Return the seconds that a round of a kernel has taken, or that its first one will take.

        The latter is its work times the seconds per work of the measured kernel of the same family
        and operation whose work is nearest; 0 where there is none.
        """
        if self.was_tried(task):
            return self._of_round[task]
        own = self._work(task)
        alike = [
            each
            for each in self._of_round
            if (each.family, each.operation) == (task.family, task.operation) and self._work(each)
        ]
        if not alike or not own:
            return 0.0
        near = min(alike, key=lambda each: abs(self._work(each) - own))
        return self._of_round[near] * max(1.0, own / self._work(near))

    def seconds_of(self, rounds: Callable[[KernelIdentity], int]) -> float:
        """Return the seconds of so many rounds of each kernel, without the start of processes.

        Kernels that have not been tried count as the mean of the others; 0 where none was tried.
        """
        mean = sum(self._of_round.values()) / max(1, len(self._of_round))
        return sum(rounds(task) * self._of_round.get(task, mean) for task in self._tasks)

    def _start(self, left: float) -> float:
        """Return the mean seconds that the start of a group's processes has taken."""
        elsewhere = self._seconds - left - self._in_rounds
        return max(0.0, elsewhere) / max(1, self._groups_begun)

    def _groups(self, still_open: Sequence[KernelIdentity]) -> Iterator[list[KernelIdentity]]:
        yield [task for task in still_open if self.was_tried(task)]
        left = [task for task in still_open if not self.was_tried(task)]
        while left:
            limit = ALIKE * min(map(self._work, left))
            yield [task for task in left if self._work(task) <= limit]
            left = [task for task in left if self._work(task) > limit]
