"""Two releases against each other, slice by slice, in two live processes.

What the machine does to one it does to the other a few milliseconds later, and it cancels in
the ratio. A call that takes longer than that is stopped on its way, so that both sides go through
the same weather: they take turns until either is done, and only their own turns are counted.

Five things were found to matter, each by a comparison of a release with itself that
came out wrong without it: both processes sit on the same cores; the one not being timed is
stopped, because idle thread pools spin; the order inside a pair is swapped every time; and so are,
from round to round, the order in which the two processes start and that in which they prepare a
kernel (one that waits for memory was up to 5 % faster where it was prepared last). A round, that is
a fresh pair of processes, is the unit of noise: memory layout and thread placement are drawn anew.
"""

import json
import math
import os
import select
import signal
import statistics
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.measure import threads

Pair = tuple[float, float]

SLICE_SECONDS = 0.005
"""How long one side is timed before it is the other's turn."""

MOST_PAIRS, FEWEST_PAIRS = 50, 4
ROUND_SECONDS = 1.5
"""What a round of one kernel may take beyond its fewest pairs: long calls get fewer than others."""


@dataclass(frozen=True)
class Launch:
    """How to start one side: a release's interpreter, what selects it, and what it runs."""

    python: str
    environ: Mapping[str, str] = field(default_factory=dict)
    program: tuple[str, ...] = ("-m", "deepbench_ops.measure.worker")


@dataclass(frozen=True)
class Task:
    """What both sides time."""

    family: str
    problem: str
    precision: str
    operation: str = "forward"


class LiveWorker:
    """One side of a pair: started pinned, asked for slices, stopped in between."""

    def __init__(self, launch: Launch, cores: set[int]) -> None:
        self._process = subprocess.Popen(
            [launch.python, *launch.program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **launch.environ},
        )
        try:
            os.sched_setaffinity(self._process.pid, cores)
            self._answer()
            self.freeze()
        except BaseException:
            self.close()
            raise

    def ask(self, **command: object) -> dict[str, float]:
        """Give the worker a command, and return what it answers, stopped again.

        Raises DeepbenchError with the worker's own reason when it answers with an error.
        """
        self.tell(**command)
        answer = self.go_on()
        assert answer is not None
        return answer

    def tell(self, **command: object) -> None:
        """Give the worker a command, which it reads when it goes on."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # it has ended, and the missing answer will say so
            self._process.stdin.write(json.dumps(command) + "\n")
            self._process.stdin.flush()

    def go_on(self, seconds: float | None = None) -> dict[str, float] | None:
        """Let it run until it answers, or for so long; return the answer, None where none came."""
        assert self._process.stdout is not None
        self._process.send_signal(signal.SIGCONT)
        ready, _, _ = select.select([self._process.stdout], [], [], seconds)
        answer = self._answer() if ready else None
        self.freeze()
        return answer

    def freeze(self) -> None:
        """Stop the process and its threads, and return once they have stopped."""
        os.kill(self._process.pid, signal.SIGSTOP)
        os.waitpid(self._process.pid, os.WUNTRACED)

    def close(self) -> None:
        """End the process, whatever state it is in."""
        self._process.kill()
        self._process.communicate()

    def _answer(self) -> dict[str, float]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise DeepbenchError(f"a worker ended early: {' '.join(self._process.args)}")  # type: ignore[arg-type]
        answer = json.loads(line)
        if "error" in answer:
            raise DeepbenchError(answer["error"])
        return dict(answer)


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
    take = _in_turns if long else _one_by_one
    affordable = int(ROUND_SECONDS / (2 * calls * call)) // 2 * 2  # either order as often
    taken: list[Pair] = []
    for index in range(max(FEWEST_PAIRS, min(pairs, affordable))):
        if index % 2 == 0:
            taken.append(take(before, after, calls))
        else:
            taken.append(take(after, before, calls)[::-1])
    return taken


def _one_by_one(first: LiveWorker, second: LiveWorker, calls: int) -> Pair:
    """Return seconds per call of a slice of either, by the workers' own clocks."""
    one, other = (worker.ask(do="slice", calls=calls)["seconds"] for worker in (first, second))
    return one, other


def _in_turns(first: LiveWorker, second: LiveWorker, calls: int) -> Pair:
    """Return the same, each running for a turn and then the other, until both are done."""
    turns: dict[LiveWorker, list[tuple[float, float]]] = {first: [], second: []}
    found: dict[LiveWorker, float] = {}
    for worker in turns:
        worker.tell(do="slice", calls=calls)
    while len(found) < len(turns):
        for worker, mine in turns.items():
            if worker in found:
                continue
            woken = time.monotonic()
            answer = worker.go_on(None if found else SLICE_SECONDS)
            mine.append((woken, time.monotonic()))
            if answer is not None:
                found[worker] = _spent(mine, answer["ended"], calls * answer["seconds"]) / calls
    return found[first], found[second]


def _spent(turns: Iterable[tuple[float, float]], ended: float, seconds: float) -> float:
    """Return how much of so many seconds before it ended a worker was running."""
    began = ended - seconds
    return sum(max(0.0, min(stopped, ended) - max(woken, began)) for woken, stopped in turns)


def round_ratio(pairs: Iterable[Pair]) -> float:
    """Return after / before of one round: the median of the pairs' log ratios, as a ratio."""
    return math.exp(statistics.median(math.log(after / before) for before, after in pairs))


def _cores() -> set[int]:
    """Return the cores both sides share: as many of the allowed ones as there are threads."""
    return set(sorted(os.sched_getaffinity(0))[: threads.wanted()])
