"""Two releases against each other, slice by slice, in two live processes.

A disturbance of the machine hits one and, a few milliseconds later, the other, and cancels in the
ratio. A call that takes longer than that is stopped on its way, so that both sides go through
the same weather: they take turns until either is done, and only their own turns are counted.

Five things were found to matter, each by a comparison of a release with itself that
came out wrong without it: both processes sit on the same cores; the one not being timed is
stopped, because idle thread pools spin; the order inside a pair is swapped every time; and so are,
from round to round, the order in which the two processes start and that in which they prepare a
kernel (one that waits for memory was up to 5 % faster where it was prepared last). A round, that is
a fresh pair of processes, is the unit of noise: memory layout and thread placement differ from
round to round.
"""

import math
import statistics
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass

from deepbench_ops.measure import threads, turns
from deepbench_ops.measure.worker_control import Launch, LiveWorker

Pair = tuple[float, float]

SLICE_SECONDS = 0.005
"""How long short calls of one side are timed before it is the other's turn."""

MOST_PAIRS, FEWEST_PAIRS = 50, 4
ROUND_SECONDS = 2.0
"""Seconds that a round of one kernel may take beyond its fewest pairs: long calls get fewer than
others."""


@dataclass(frozen=True)
class Task:
    """The kernel that both sides time."""

    family: str
    problem: str
    precision: str
    operation: str = "forward"


def run_rounds(
    before: Launch,
    after: Launch,
    tasks: Iterable[Task],
    rounds: int,
    pairs: int = MOST_PAIRS,
) -> dict[Task, list[list[Pair]]]:
    """Return for every task its rounds, each a list of (before, after) seconds per call.

    One round starts both processes, takes every task in turn, and ends them again. `pairs` is
    their number where calls are short.
    """
    tasks = list(tasks)
    found = [run_round(before, after, tasks, number, pairs) for number in range(rounds)]
    return {task: [each[task] for each in found] for task in tasks}


def run_round(
    before: Launch,
    after: Launch,
    tasks: Iterable[Task],
    number: int,
    pairs: int = MOST_PAIRS,
) -> dict[Task, list[Pair]]:
    """Return the pairs of one round, the `number`-th: which side comes first alternates."""
    swap = number % 2 == 1
    with _started(before, after, swap) as workers:
        return {task: _one_round(*workers, task, swap, pairs) for task in tasks}


@contextmanager
def _started(before: Launch, after: Launch, swap: bool) -> Iterator[tuple[LiveWorker, LiveWorker]]:
    cores = _cores()
    launches = [after, before] if swap else [before, after]
    started: list[LiveWorker] = []
    try:
        for launch in launches:
            started.append(LiveWorker(launch, cores))
        first, second = started
        yield (second, first) if swap else (first, second)
    finally:
        for worker in started:
            worker.close()


def _one_round(
    before: LiveWorker, after: LiveWorker, task: Task, swap: bool, pairs: int
) -> list[Pair]:
    sides = (after, before) if swap else (before, after)
    prepared = [worker.ask(do="prepare", **asdict(task)) for worker in sides]
    call = max(answer["seconds"] for answer in prepared)
    calls = max(1, round(SLICE_SECONDS / call))
    long = calls == 1 and all(answer["stoppable"] for answer in prepared)
    take = turns.in_turns if long else turns.one_by_one
    affordable = int(ROUND_SECONDS / (2 * calls * call)) // 2 * 2  # either order as often
    taken: list[Pair] = []
    for index in range(max(FEWEST_PAIRS, min(pairs, affordable))):
        if index % 2 == 0:
            one, other = take((before, after), (calls, calls))
        else:
            other, one = take((after, before), (calls, calls))
        taken.append((one, other))
    return taken


def round_ratio(pairs: Iterable[Pair]) -> float:
    """Return after / before of one round: the median of the pairs' log ratios, as a ratio."""
    return math.exp(statistics.median(math.log(after / before) for before, after in pairs))


def _cores() -> set[int]:
    """Return the cores both sides share: as many of the allowed ones as there are threads."""
    return threads.cores(threads.wanted())
