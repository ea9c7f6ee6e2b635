"""Order in which the kernels of a history are measured: long calls leave the others their time."""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from deepbench_ops.measure.kernel_identity import KernelIdentity
from deepbench_ops.problems.problem_ids import problem_of

PARTS = 2
"""So many equal parts of the seconds may a kernel take while others need more rounds."""

ALIKE = 4.0
"""Kernels whose work differs by less than this factor are measured together for the first time: the
time of the last ones tells how long the next ones will take."""


@cache
def work(task: KernelIdentity) -> float:
    """Return the FLOPs of a kernel, or its bytes where nothing is computed."""
    problem = problem_of(task.family, task.problem)
    return problem.amount_of_work(task.precision, task.operation)


class MeasuringOrder:
    """Shares seconds among kernels; those that need more than their share come last.

    tasks: all kernels of a history. seconds: for all of them together, infinite for no limit.
    amount: the work of a kernel, which need not be comparable between families.
    """

    def __init__(
        self,
        tasks: Sequence[KernelIdentity],
        seconds: float,
        amount: Callable[[KernelIdentity], float] = work,
    ) -> None:
        self._share = PARTS * seconds / max(1, len(tasks))
        self._spent: dict[KernelIdentity, float] = {}
        self._rounds: dict[KernelIdentity, int] = {}
        self._work = amount

    def took(self, task: KernelIdentity, seconds: float) -> None:
        """Note the seconds of one more round of a kernel."""
        self._spent[task] = self._spent.get(task, 0.0) + seconds
        self._rounds[task] = self._rounds.get(task, 0) + 1

    def seconds_for(self, task: KernelIdentity, left: float) -> float:
        """Return the seconds that the next round of a kernel may take, of those that are left.

        Its share at most, until all kernels that are left need more; the first kernel, which has
        the least work, may take any time.
        """
        if not self._spent:
            return math.inf
        return left if self.needs_more(task) else min(self._share, left)

    def needs_more(self, task: KernelIdentity) -> bool:
        """Return whether a kernel takes more than its share, as far as that is known."""
        return self.expected(task) > self._share

    def groups(self, still_open: Sequence[KernelIdentity]) -> Iterator[list[KernelIdentity]]:
        """Yield kernels that are to be measured once more, group by group.

        First those that have been measured and have seconds left, then the others by their work,
        each group after the one before it has been measured. Where all need more than their share,
        the one that costs least.
        """
        nothing_yet = True
        for group in self._groups(still_open):
            if allowed := [task for task in group if not self.needs_more(task)]:
                nothing_yet = False
                yield allowed
        if nothing_yet:
            yield [min(still_open, key=self.expected)]

    def expected(self, task: KernelIdentity) -> float:
        """Return the seconds that a kernel has taken, or that its first round will take.

        The latter is its work times the seconds per work of the measured kernel of the same family
        and operation whose work is nearest; 0 where there is none.
        """
        if task in self._spent:
            return self._spent[task]
        own = self._work(task)
        alike = [
            each
            for each in self._spent
            if (each.family, each.operation) == (task.family, task.operation) and self._work(each)
        ]
        if not alike or not own:
            return 0.0
        near = min(alike, key=lambda each: abs(self._work(each) - own))
        return self._spent[near] / self._rounds[near] * max(1.0, own / self._work(near))

    def _groups(self, still_open: Sequence[KernelIdentity]) -> Iterator[list[KernelIdentity]]:
        yield [task for task in still_open if task in self._spent]
        left = [task for task in still_open if task not in self._spent]
        while left:
            limit = ALIKE * min(map(self._work, left))
            yield [task for task in left if self._work(task) <= limit]
            left = [task for task in left if self._work(task) > limit]
