"""Many releases at once: a live worker for each, all measured in the same seconds.

A round starts a process for every release, and in sweeps each of them runs one slice of the same
kernel while the others are stopped. A disturbance of a sweep hits all releases alike, and cancels
in their differences (`statistics.two_way`). Starts, preparations and slices go in random orders, a
sweep in the opposite order of the one before it, so that no release is always the first. A round,
with fresh processes, is the unit of noise, as in `measure.pairs`, which are the case of two. Where
memory does not hold all releases, blocks of them share one, the anchor.
"""

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from functools import cached_property
from random import Random

import numpy as np

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.measure import core_latency, threads, turns
from deepbench_ops.measure.live_worker import Launch, LiveWorker
from deepbench_ops.measure.pairs import SLICE_SECONDS, Task
from deepbench_ops.measure.turns import WorkerFailed
from deepbench_ops.statistics import two_way
from deepbench_ops.statistics.two_way import TwoWay

VERSION = "1"
"""Raised where the way of measuring changes: rounds of different versions are not combined."""

SWEEPS, FEWEST_SWEEPS = 20, 4
SECONDS_EACH = 1.0
"""Seconds that a round of one kernel may take for each release beyond its fewest sweeps."""


@dataclass
class Round:
    """One kernel in one round.

    sweeps: the seconds per call of each release, sweep by sweep; blocks of releases follow each
    other. reasons: why a release has none. latencies: nanoseconds of a round trip between two cores
    before and after (`measure.core_latency`), empty where that could not be read.

    id: the same for all kernels that the same processes measured, and for no others. anchor: the
    release that all blocks share. started_at, ended_at: seconds since 1970. yardstick: its seconds
    per unit in each sweep, NaN where there are none; empty without a yardstick. nominal: its
    reading on the quiet machine, None where that is not known. calls: of each release's slices.
    facts: the fingerprint of each release's process. implementations: the code that each release
    ran, where that is known. state: the state of the machine that the latencies show, "" where that
    is not known. conditions: unusual ones of the run, by name.
    """

    sweeps: list[dict[str, float]] = field(default_factory=list)
    reasons: dict[str, str] = field(default_factory=dict)
    latencies: list[float] = field(default_factory=list)
    id: str = ""
    anchor: str = ""
    started_at: float = 0.0
    ended_at: float = 0.0
    yardstick: list[float] = field(default_factory=list)
    yardstick_kind: str = ""
    nominal: float | None = None
    calls: dict[str, int] = field(default_factory=dict)
    facts: dict[str, dict[str, str]] = field(default_factory=dict)
    implementations: dict[str, str] = field(default_factory=dict)
    state: str = ""
    conditions: dict[str, str] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """The releases that have values, in the order of their first."""
        return list(dict.fromkeys(name for sweep in self.sweeps for name in sweep))

    @property
    def has_yardstick(self) -> bool:
        """Whether the yardstick was read in any sweep."""
        return any(map(math.isfinite, self.yardstick))

    @cached_property
    def fitted(self) -> TwoWay:
        """Effects of the releases, in the order of `names`; of a round that is complete."""
        return two_way.fit(self.logs(self.names))

    def difference(self, before: str, after: str) -> tuple[float, float]:
        """Return the logarithm of after / before and its variance.

        NaN where either is missing, and where no sweeps lead from one to the other: their blocks
        have lost the anchor.
        """
        names = self.names
        if before not in names or after not in names:
            return math.nan, math.nan
        return self.fitted.difference(names.index(before), names.index(after))

    def logs(self, names: Sequence[str]) -> np.ndarray:
        """Return logarithms of the seconds, of shape (sweeps, names); NaN where there are none."""
        rows = [[sweep.get(name, np.nan) for name in names] for sweep in self.sweeps]
        return np.log(np.array(rows, dtype=float).reshape(len(rows), len(names)))


def run_round(
    launches: Mapping[str, Launch],
    tasks: Iterable[Task],
    number: int,
    anchor: str | None = None,
    together: int | None = None,
    sweeps: int = SWEEPS,
) -> Iterator[tuple[Task, Round]]:
    """Yield the `number`-th round of every task; random orders depend on the number alone.

    launches: how to start each release's worker. anchor: the release that all blocks share.
    together: most releases in a block, all unless given; two at least. A task is yielded as soon as
    the last block has measured it.
    """
    random, found = Random(number), {task: Round() for task in tasks}
    cut = list(blocks(list(launches), anchor, together, random))
    for block in cut:
        with ExitStack() as stack:
            workers = _started({name: launches[name] for name in block}, found, random, stack)
            for task, taken in found.items():
                if len(workers) > 1:
                    _measure(task, workers, taken, random, sweeps)
                if block is cut[-1]:
                    for name in taken.names:
                        taken.reasons.pop(name, None)  # the anchor of one block that failed
                    yield task, taken


def blocks(
    names: Sequence[str], anchor: str | None, together: int | None, random: Random
) -> Iterator[list[str]]:
    """Yield blocks of names in random order, of `together` at most and nearly equal sizes.

    Each holds the anchor, the last name unless given.
    """
    anchor = names[-1] if anchor is None else anchor
    others = [name for name in names if name != anchor]
    random.shuffle(others)
    most = max(len(others) if together is None else together - 1, 1)
    count = max(1, -(-len(others) // most))
    for index in range(count):
        yield [anchor, *others[index::count]]


def _started(
    launches: Mapping[str, Launch], found: Mapping[Task, Round], random: Random, stack: ExitStack
) -> dict[str, LiveWorker]:
    """Start workers in random order; those that fail are reasons of all tasks."""
    cores = set(sorted(os.sched_getaffinity(0))[: threads.wanted()])
    workers: dict[str, LiveWorker] = {}
    for name in random.sample(list(launches), len(launches)):
        try:
            workers[name] = LiveWorker(launches[name], cores)
        except (DeepbenchError, OSError) as error:
            for taken in found.values():
                taken.reasons[name] = str(error)
        else:
            stack.callback(workers[name].close)
    return workers


def _measure(
    task: Task, workers: dict[str, LiveWorker], taken: Round, random: Random, sweeps: int
) -> None:
    """Add the sweeps of one block of releases to a round; a worker that ends is removed."""
    cores, own = os.sched_getaffinity(0), len(taken.sweeps)
    prepared: dict[str, dict[str, float]] = {}
    for name in random.sample(list(workers), len(workers)):
        try:
            prepared[name] = turns.ask(workers[name], do="prepare", **asdict(task))
            if named := prepared[name].get("implementation"):
                taken.implementations[name] = str(named)
        except WorkerFailed as error:
            _give_up(name, error, workers, taken)
    calls = {
        name: max(1, round(SLICE_SECONDS / answer["seconds"])) for name, answer in prepared.items()
    }
    long = all(calls[name] == 1 and prepared[name]["stoppable"] for name in prepared)
    take = turns.in_turns if long else turns.one_by_one
    cost = sum(calls[name] * answer["seconds"] for name, answer in prepared.items())
    affordable = int(SECONDS_EACH * len(prepared) / cost) // 2 * 2 if cost else 0
    _note_latency(taken, cores)
    order = list(prepared)
    for index in range(max(FEWEST_SWEEPS, min(sweeps, affordable))):
        order = [name for name in order if name in prepared]
        if len(order) < 2:
            break
        if index % 2 == 0:
            random.shuffle(order)
        else:
            order.reverse()
        try:
            seconds = take([workers[name] for name in order], [calls[name] for name in order])
        except WorkerFailed as error:
            failed = next(name for name in order if workers[name] is error.worker)
            del prepared[failed]
            _give_up(failed, error, workers, taken)
            for sweep in taken.sweeps[own:]:
                sweep.pop(failed, None)
            continue
        taken.sweeps.append(dict(zip(order, seconds, strict=True)))
    _note_latency(taken, cores)


def _give_up(name: str, error: WorkerFailed, workers: dict[str, LiveWorker], taken: Round) -> None:
    """Note why a release has no times of a kernel; end its worker where that is lost."""
    taken.reasons[name] = str(error)
    if error.is_lost:
        workers.pop(name).close()


def _note_latency(taken: Round, cores: set[int]) -> None:
    latency = core_latency.read(cores)
    if latency is not None:
        taken.latencies.append(round(latency, 1))
