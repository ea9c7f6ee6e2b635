"""Many releases at once: a live worker for each, measured in turns of milliseconds.

A round starts a process for every release, and in sweeps each of them runs one slice of the same
kernel while the others are stopped. A disturbance of a sweep hits all releases alike, and cancels
in their differences (`statistics.sweep_levels`). Starts, preparations and slices go in random
orders, a sweep in the opposite order of the one before it, so that no release is always the first.
A round, with fresh processes, is the unit of noise: memory layout and the placement of threads
differ from round to round. Where memory does not hold all releases, blocks of them share one, the
anchor.
Releases that are compared two at a time are an ensemble of two.
"""

import math
import os
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, field
from functools import partial
from random import Random
from typing import Any

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.measure import (
    core_latency,
    fingerprint,
    library_variables,
    machine_states,
    release_blocks,
    threads,
    worker_turns,
)
from deepbench_ops.measure.calls_per_slice import calls_per_slice
from deepbench_ops.measure.ensemble_round import Round
from deepbench_ops.measure.kernel_identity import KernelIdentity
from deepbench_ops.measure.nominal_readings import Choice, NominalReadings
from deepbench_ops.measure.worker_control import Launch, LiveWorker
from deepbench_ops.measure.worker_turns import WorkerFailed
from deepbench_ops.run_conditions import CONDITIONS, DEVICE

VERSION = "1"
"""Raised where the way of measuring changes: rounds of different versions are not combined."""

SLICE_SECONDS = 0.005
"""Seconds for which short calls of one release are timed before it is another's turn."""

SWEEPS, FEWEST_SWEEPS = 20, 4
"""Sweeps of a round with many releases, and of one with long calls."""

SLICES = 100
"""Few releases have more sweeps, so that there are as many slices in all: two have 50."""

SECONDS_EACH = 0.3
"""Seconds of timed calls of one kernel in a round, for each release, beyond its fewest sweeps."""
LONGEST_WAIT = 2
"""So many times as many sweeps are measured at most where the machine changes its state, until
there are FEWEST_SWEEPS in one."""

YARDSTICK = "yardstick"
"""Name of the yardstick among the workers of a round, and among the reasons where it fails."""


@dataclass(frozen=True)
class SweptYardstick:
    """The yardstick that takes part in the sweeps: how to start it, and its nominal readings.

    nominal: seconds per unit on the quiet machine, by state.
    """

    launch: Launch
    nominal: NominalReadings = field(default_factory=NominalReadings)


def run_round(
    launches: Mapping[str, Launch],
    tasks: Iterable[KernelIdentity],
    number: int,
    anchor: str | None = None,
    together: int | None = None,
    sweeps: int | None = None,
    reference: SweptYardstick | None = None,
    seconds: Callable[[KernelIdentity], float] = lambda task: math.inf,
) -> Generator[tuple[KernelIdentity, Round], None, None]:
    """Yield the `number`-th round of every task; random orders depend on the number alone.

    launches: how to start each release's worker. anchor: the release that all blocks share.
    together: most releases in a block, all unless given; two at least. reference: the yardstick,
    if it takes part. seconds: limit of a block for a task. A task that would take longer, by the
    preparation and the calls of the first release, is not measured (`Round.too_long`). A task is
    yielded as soon as the last block has measured it.
    """
    random, began = Random(number), time.time()
    anchor = list(launches)[-1] if anchor is None else anchor
    found = {task: _new_round(number, anchor, began) for task in tasks}
    cut = list(release_blocks.blocks(list(launches), anchor, together, random))
    for block in cut:
        with ExitStack() as stack, closing(core_latency.Reader(_probed_cores())) as reader:
            members = {name: launches[name] for name in block}
            if reference is not None:
                members[YARDSTICK] = reference.launch
            workers = _started(members, found, random, stack)
            for task, this_round in found.items():
                if len(workers.keys() - {YARDSTICK}) > 1 and not this_round.too_long:
                    kernel = _Block(task, workers, this_round, random, reference, reader)
                    begun = time.monotonic()
                    kernel.measure(sweeps, seconds(task))
                    this_round.spent += time.monotonic() - begun
                if block is cut[-1]:
                    for name in this_round.names:
                        this_round.reasons.pop(name, None)  # the anchor of one block that failed
                    this_round.ended_at = time.time()
                    yield task, this_round


def run_rounds(
    launches: Mapping[str, Launch],
    tasks: Iterable[KernelIdentity],
    rounds: int,
    sweeps: int | None = None,
    first: int = 0,
) -> dict[KernelIdentity, list[Round]]:
    """Return so many rounds of every task.

    first: number of the first one, by which its random orders follow; where a measurement goes on,
    the rounds that it has.
    Raises DeepbenchError, with the worker's reason, where one of them has no times of a task.
    """
    found: dict[KernelIdentity, list[Round]] = {task: [] for task in tasks}
    for number in range(first, first + rounds):
        with closing(run_round(launches, found, number, sweeps=sweeps)) as measured:
            for task, this_round in measured:
                if this_round.reasons:
                    raise DeepbenchError(next(iter(this_round.reasons.values())))
                found[task].append(this_round)
    return found


def _new_round(number: int, anchor: str, began: float) -> Round:
    own = f"{1000 * began:.0f}-{number}"
    return Round(id=own, anchor=anchor, started_at=began, conditions=conditions())


def conditions() -> dict[str, str]:
    """Return the facts that rounds must share to be combined.

    Processor, threads, external settings, and the run conditions that are not the usual ones.
    """
    values = {condition.name: condition.of(os.environ) for condition in CONDITIONS}
    return {
        "processor": fingerprint.silicon(),
        fingerprint.THREADS: str(threads.wanted()),
        fingerprint.SETTINGS: library_variables.text(library_variables.of_this_process()),
        **{each.name: values[each.name] for each in CONDITIONS if values[each.name] != each.usual},
    }


def _started(
    launches: Mapping[str, Launch],
    found: Mapping[KernelIdentity, Round],
    random: Random,
    stack: ExitStack,
) -> dict[str, LiveWorker]:
    """Start workers in random order; those that fail are reasons of all tasks."""
    cores = threads.cores(threads.wanted())
    workers: dict[str, LiveWorker] = {}
    for name in random.sample(list(launches), len(launches)):
        try:
            workers[name] = LiveWorker(launches[name], cores)
        except (DeepbenchError, OSError) as error:
            for this_round in found.values():
                this_round.reasons[name] = str(error)
        else:
            stack.callback(workers[name].close)
    return workers


@dataclass
class _Block:
    """Sweeps of one kernel over the releases of a block; a worker that ends is removed.

    workers: those of the block, which other kernels use too. prepared: answers of those that have
    the kernel.
    """

    task: KernelIdentity
    workers: dict[str, LiveWorker]
    this_round: Round
    random: Random
    reference: SweptYardstick | None
    latencies: core_latency.Reader
    prepared: dict[str, dict[str, Any]] = field(default_factory=dict)

    def measure(self, sweeps: int | None, allowed: float = math.inf) -> None:
        """Add up to so many sweeps to the round, fewer of long calls; None for the usual number.

        Adds none if they would take more seconds than allowed.
        """
        own = len(self.this_round.sweeps)
        self._prepare(allowed)
        if self.this_round.too_long:
            return
        if sweeps is None:
            sweeps = max(SWEEPS, SLICES // max(1, len(self._releases)))
        calls = {
            name: calls_per_slice(SLICE_SECONDS, answer["seconds"])
            for name, answer in self.prepared.items()
        }
        self.this_round.calls |= {name: calls[name] for name in self._releases}
        woken = self._are_woken()
        turns = not woken and all(self.prepared[name]["stoppable"] for name in self._releases)
        order, planned = list(self.prepared), self._affordable(calls, sweeps)
        latency = self._latency()
        self.this_round.latencies += latency[:1]
        for index in range(LONGEST_WAIT * planned):
            order = [name for name in order if name in self.prepared]
            if len(self._releases) < 2 or (index >= planned and self._are_enough(own)):
                break
            if index % 2 == 0:
                self.random.shuffle(order)
            else:
                order.reverse()
            try:
                seconds = self._sweep(order, calls, woken, turns)
            except WorkerFailed as error:
                failed = next(name for name in order if self.workers[name] is error.worker)
                self._leave_out(failed, error, own)
                continue
            self.this_round.yardstick.append(seconds.pop(YARDSTICK, math.nan))
            self.this_round.sweeps.append(seconds)
            before, latency = latency, self._latency()
            self._note_state(before + latency)
        self.this_round.latencies += latency[-1:]
        self._choose_nominal()
        self._check_outputs(own)

    def _latency(self) -> list[float]:
        """Return a reading of the latency between the two cores, [] where there is none."""
        read = self.latencies.read()
        return [] if read is None else [round(read, 1)]

    def _note_state(self, around: Sequence[float]) -> None:
        """Note the latencies before and after the last sweep, and its nominal reading."""
        before, after = around if len(around) == 2 else (math.nan, math.nan)
        self.this_round.sweep_latencies.append((before, after))
        choice = self._nominal([before, after])
        self.this_round.nominals.append(choice.seconds)
        self.this_round.remarks.append(choice.remark)

    def _are_enough(self, own: int) -> bool:
        """Whether the sweeps of this block, which begin at `own`, are enough in one state.

        Always so where latencies cannot be read.
        """
        steady = [
            max(two)
            for two in self.this_round.sweep_latencies[own:]
            if math.isfinite(two[0]) and machine_states.level_of(two[0], two[1:]) is not None
        ]
        known = any(math.isfinite(one) for one, _ in self.this_round.sweep_latencies[own:])
        alike = [
            sum(machine_states.level_of(one, [other]) is not None for one in steady)
            for other in steady
        ]
        return not known or max(alike, default=0) >= FEWEST_SWEEPS

    @property
    def _releases(self) -> list[str]:
        """The releases that have the kernel."""
        return [name for name in self.prepared if name != YARDSTICK]

    def _prepare(self, allowed: float) -> None:
        """Let the releases prepare the kernel in random order, and then the yardstick its kind.

        Ends after the first that has the kernel if all would take more seconds than allowed.
        """
        releases = [name for name in self.workers if name != YARDSTICK]
        for name in self.random.sample(releases, len(releases)):
            began, first = time.monotonic(), not self.prepared
            self._ask(name, **asdict(self.task))
            if first and name in self.prepared:
                each = time.monotonic() - began + FEWEST_SWEEPS * self.prepared[name]["seconds"]
                if (expected := each * len(releases)) > allowed:
                    self.this_round.too_long = expected
                    return
        for name in self._releases:
            answer = self.prepared[name]
            for known, part in (
                (self.this_round.facts, "facts"),
                (self.this_round.notes, "notes"),
                (self.this_round.implementations, "implementation"),
            ):
                if answer.get(part):
                    known[name] = answer[part]
        kinds = {self.prepared[name].get("yardstick", "") for name in self._releases}
        if YARDSTICK in self.workers and len(kinds) == 1 and "" not in kinds:
            self._ask(YARDSTICK, kind=(kind := kinds.pop()))
            self.this_round.yardstick_kind = kind

    def _choose_nominal(self) -> None:
        """Take the nominal reading of the state in which all blocks so far were measured."""
        choice = self._nominal(self.this_round.latencies)
        self.this_round.nominal, self.this_round.calibration = choice.seconds, choice.remark

    def _nominal(self, latencies: Sequence[float]) -> Choice:
        """Return the nominal reading of the yardstick at these latencies, if it takes part."""
        kind = self.this_round.yardstick_kind
        if self.reference is None or not kind:
            return Choice(None)
        known = [each for each in latencies if math.isfinite(each)]
        return self.reference.nominal.choice(kind, threads.wanted(), known)

    def _ask(self, name: str, **what: object) -> None:
        try:
            self.prepared[name] = worker_turns.ask(self.workers[name], do="prepare", **what)
        except WorkerFailed as error:
            self._give_up(name, error)

    def _affordable(self, calls: Mapping[str, int], sweeps: int) -> int:
        """Return how many sweeps the calls of the releases leave time for, of `sweeps`."""
        names = self._releases
        cost = sum(calls[name] * self.prepared[name]["seconds"] for name in names)
        affordable = int(SECONDS_EACH * len(names) / cost) // 2 * 2 if cost else 0
        return max(FEWEST_SWEEPS, min(sweeps, affordable))

    def _are_woken(self) -> bool:
        """Whether an untimed call comes before each slice, in all releases of the block or in none.

        It does where the call of the fastest takes less than a turn. Longer ones lose their caches
        after each turn anyway.
        """
        fastest = min((self.prepared[name]["seconds"] for name in self._releases), default=math.inf)
        return fastest < worker_turns.TURN_SECONDS

    def _sweep(
        self, order: Sequence[str], calls: Mapping[str, int], woken: bool, turns: bool
    ) -> dict[str, float]:
        """Return the seconds per call of a slice of each, in this order.

        woken: as `_are_woken` says. turns: whether the releases go on in turns. The yardstick,
        whose threads measure their own time, must not be stopped on its way: it is read before and
        after them then.
        """

        def take(
            slices: Callable[[list[LiveWorker], list[int]], list[float]], names: Sequence[str]
        ) -> list[float]:
            return slices([self.workers[name] for name in names], [calls[name] for name in names])

        if not turns:
            slices = partial(worker_turns.one_by_one, woken=woken)
            return dict(zip(order, take(slices, order), strict=True))
        releases = [name for name in order if name != YARDSTICK]
        yardstick = [name for name in order if name == YARDSTICK]
        before = take(worker_turns.one_by_one, yardstick)
        seconds = dict(zip(releases, take(worker_turns.in_turns, releases), strict=True))
        after = take(worker_turns.one_by_one, yardstick)
        readings = (math.sqrt(one * other) for one, other in zip(before, after, strict=True))
        return {**seconds, **dict(zip(yardstick, readings, strict=True))}

    def _check_outputs(self, own: int) -> None:
        """Let each release check the output that was timed; leave out those that are wrong.

        own: the first sweep of this block. After the last one, since no time of the kernel follows:
        a check fills the caches, allocates memory and starts threads.
        """
        if len(self.this_round.sweeps) == own:
            return
        for name in self._releases:
            try:
                worker_turns.ask(self.workers[name], do="check")
            except WorkerFailed as error:
                self._leave_out(name, error, own)
        if not any(self.this_round.sweeps[own:]):
            self._drop_sweeps(own)

    def _drop_sweeps(self, own: int) -> None:
        """Remove the sweeps of this block, which begin at `own`, with all that belongs to them."""
        this_round = self.this_round
        del this_round.sweeps[own:], this_round.yardstick[own:], this_round.sweep_latencies[own:]
        del this_round.nominals[own:], this_round.remarks[own:]

    def _leave_out(self, name: str, error: WorkerFailed, own: int) -> None:
        """Note why a member has no times of the kernel, and remove those that it had.

        own: the first sweep of this block.
        """
        del self.prepared[name]
        self._give_up(name, error)
        if name == YARDSTICK:
            self.this_round.yardstick[own:] = [math.nan] * (len(self.this_round.yardstick) - own)
        for sweep in self.this_round.sweeps[own:]:
            sweep.pop(name, None)

    def _give_up(self, name: str, error: WorkerFailed) -> None:
        """Note why a release has no times of the kernel; end its worker where that is lost."""
        self.this_round.reasons[name] = str(error)
        if error.is_lost:
            self.workers.pop(name).close()


def _probed_cores() -> set[int]:
    """Return the two cores whose latency shows the state; none for one thread, or on a device."""
    if threads.wanted() < 2 or DEVICE.of(os.environ) != DEVICE.usual:
        return set()
    return set(threads.one_cpu_per_core()[:2])
