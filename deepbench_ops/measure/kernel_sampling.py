"""Time one kernel in short slices that alternate with the yardstick, until the noise is low.

A *slice* is a number of back-to-back calls lasting some milliseconds, from one device
synchronisation to the next, divided by that number. Every slice stands between two slices of
the yardstick, and the timeline shows

    calibrated seconds = kernel seconds / mean of the two yardstick readings x nominal reading

where the nominal reading belongs to the machine's profile. Raw seconds and yardstick readings
are kept next to it, so that a reader can undo the calibration.

While the yardstick reads far above nominal the machine is *disturbed*: a core has gone to another
process, say. Kernels lose more or less by that than the yardstick does, according to how they share
their work, so such slices are put aside and taken again, within the wait budgets of the kernel
(`Policy.wait_seconds`) and of the run (`disturbance_wait_budget`).
"""

import gc
import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from deepbench_ops.garbage_collector_pause import no_collector
from deepbench_ops.measure.calls_per_slice import calls_per_slice
from deepbench_ops.statistics.spread import scaled_mad
from deepbench_ops.statistics.yardstick_calibration import on_quiet_machine

# Bytes written between cold-cache calls: more than any last-level cache of today's machines.
FLUSH_BYTES = 512 * 2**20

# Calls shorter than this are woken by an untimed one; the cost of waking is lost in longer ones.
WAKING_SECONDS = 0.02

# Between two looks at a disturbed machine.
WAITING_SECONDS = 0.05

# The median of a normal sample varies this much more than its mean.
MEDIAN_OVER_MEAN = math.sqrt(math.pi / 2)
NORMAL_95 = 1.96


class Timed(Protocol):
    """Interface of a kernel that can be timed (see `deepbench_ops.backends.kernel`)."""

    @property
    def run(self) -> Callable[[], object]:
        """One call of the kernel."""

    @property
    def synchronise(self) -> Callable[[], object]:
        """Wait until the device is done."""

    @property
    def reset(self) -> Callable[[], object]:
        """Restore an output that accumulates."""

    @property
    def clock(self) -> Callable[[int], float] | None:
        """Seconds of so many calls by a clock of the kernel's own, if it has one."""


class YardstickReader(Protocol):
    """Interface of a yardstick: seconds per unit of work, over a number of units."""

    kind: str
    nominal: float | None

    def slice(self, units: int) -> float:
        """Return the seconds per unit over so many units."""

    def units_for(self, seconds: float) -> int:
        """Return how many units take about so many seconds."""

    def may_wait(self, seconds: float) -> bool:
        """Return whether the run's wait budget has so many seconds left, and spend them."""


@dataclass(frozen=True)
class Policy:
    """Lengths of slices, and when enough of them have been taken.

    slice_seconds: length of a kernel slice; a longer call is a slice of its own.
    reading_seconds: length of a reading of the yardstick next to one.
    budget_seconds: sampling ends when this much time was spent, whatever the noise.
    twice_seconds: a slice no longer than this is followed by another, whatever the budget: two
        processes then have the four samples that an interval takes.
    target: relative half-width of the median's 95 % interval at which sampling ends.
    single_warm_up_seconds: a first call at least this long is the whole warm-up.
    long_call_seconds: a call at least this long is its own warm-up: the cost of a first call
        (threads, pages of new results, code) is mostly below a tenth of a second, which
        docs/lab-notes/2026-11-23-sampling.md shows.
    wait_seconds: how long to wait in all, per kernel, for a disturbed machine to calm, where
        the run has as much to spare; a slice is only taken again where that fits in.
    disturbed_above: the yardstick's reading over nominal from which it counts as disturbed.
    cold: flush the caches before every call, each slice being one call.
    """

    slice_seconds: float = 0.008
    reading_seconds: float = 0.004
    budget_seconds: float = 0.1
    twice_seconds: float = 1.0
    warmup_seconds: float = 0.05
    target: float = 0.03
    min_samples: int = 4
    max_samples: int = 30
    single_warm_up_seconds: float = 0.25
    long_call_seconds: float = 5.0
    wait_seconds: float = 0.5
    disturbed_above: float = 1.25
    cold: bool = False

    def quick(self) -> "Policy":
        """Return the policy of a smoke run: one sample, of the very first call."""
        return replace(
            self,
            budget_seconds=0.0,
            twice_seconds=0.0,
            long_call_seconds=0.0,
            wait_seconds=0.0,
            slice_seconds=0.0,
            reading_seconds=0.0,
        )


@dataclass
class Measurement:
    """Slices of one kernel in one process, in the order they were taken.

    seconds: kernel seconds per call of each slice.
    yardstick: mean of the two readings around each slice, seconds per unit; empty when no
        yardstick was at hand.
    put_aside: (kernel, yardstick) seconds of slices taken while the machine was disturbed.
    disturbed: slices among ``seconds`` that were too, the wait budget being spent.
    number: calls per slice.
    device_readings: readings of the device after each slice of ``seconds``, such as its clock;
        empty where it has none.
    noise: relative half-width of the 95 % interval of the median that was reached.
    target_reached: whether sampling ended because that was low enough.
    warm_up_seconds: time spent in the kernel before the first slice.
    spent_seconds: time that all of this took, with the yardstick's and the waiting.
    """

    number: int
    yardstick_kind: str
    seconds: list[float] = field(default_factory=list)
    yardstick: list[float] = field(default_factory=list)
    put_aside: list[tuple[float, float]] = field(default_factory=list)
    disturbed: int = 0
    device_readings: list[dict[str, float]] = field(default_factory=list)
    noise: float = math.inf
    target_reached: bool = False
    warm_up_seconds: float = 0.0
    spent_seconds: float = 0.0

    def calibrated(self, nominal: float | None) -> list[float]:
        """Return calibrated seconds per call, or the raw ones when there is no reference."""
        if not self.yardstick or nominal is None:
            return list(self.seconds)
        pairs = zip(self.seconds, self.yardstick, strict=True)
        return [on_quiet_machine(seconds, reading, nominal) for seconds, reading in pairs]

    def ratios(self) -> list[float]:
        """Return kernel seconds over yardstick seconds, slice by slice."""
        return [s / y for s, y in zip(self.seconds, self.yardstick, strict=True)]

    @property
    def kernel_seconds(self) -> float:
        """Time spent in the kernel, warm-up and slices put aside included."""
        slices = sum(self.seconds) + sum(seconds for seconds, _ in self.put_aside)
        return self.warm_up_seconds + self.number * slices

    def judge(self, target: float) -> None:
        """Set the noise reached so far, of the ratios where there are any."""
        self.noise = relative_half_width(self.ratios() if self.yardstick else self.seconds)
        self.target_reached = self.noise <= target


def measure(
    kernel: Timed,
    yardstick: YardstickReader | None,
    policy: Policy,
    warmed_up: Callable[[], object] = lambda: None,
    read_device: Callable[[], dict[str, float]] | None = None,
) -> Measurement:
    """Warm the kernel up, then sample it; the module's text defines a sample.

    ``warmed_up`` is called once in between, when the kernel's threads exist and have worked.
    ``read_device`` is called after each slice, and its answer is kept with the sample.
    """
    gc.collect()
    with no_collector():
        started = time.perf_counter()
        disturbance = _Disturbance(yardstick, policy, read_device)
        result = _warmed_up_and_sampled(kernel, disturbance, policy, warmed_up)
        result.spent_seconds = time.perf_counter() - started
    return result


def _warmed_up_and_sampled(
    kernel: Timed,
    disturbance: "_Disturbance",
    policy: Policy,
    warmed_up: Callable[[], object],
) -> Measurement:
    flush = _flusher() if policy.cold else None
    end = time.perf_counter() + policy.budget_seconds
    disturbance.calm()
    call = time_calls(kernel, 1, flush)
    result = Measurement(1, disturbance.kind)
    if call >= policy.long_call_seconds:
        disturbance.take(result, call)
        if time.perf_counter() >= end + disturbance.waited and result.seconds:
            return result
        steady = True
    else:
        result.warm_up_seconds = call - time.perf_counter()
        call, steady = _warm_up(kernel, policy, flush, call)
        result.warm_up_seconds += time.perf_counter()
        warmed_up()
        result.number = 1 if policy.cold else calls_per_slice(policy.slice_seconds, call)
        end = time.perf_counter() + policy.budget_seconds - disturbance.waited
    _sample(kernel, disturbance, policy, flush, result, call, end)
    result.target_reached = result.target_reached and steady
    return result


def relative_half_width(samples: list[float]) -> float:
    """Return the relative half-width of the 95 % interval of the median.

    It is 1.96 x 1.2533 x the scaled median absolute deviation / sqrt(n) / median. Infinite for
    fewer than three samples.
    """
    if len(samples) < 3:
        return math.inf
    centre = statistics.median(samples)
    spread = float(scaled_mad(samples, centre))
    return NORMAL_95 * MEDIAN_OVER_MEAN * spread / math.sqrt(len(samples)) / centre


def _sample(
    kernel: Timed,
    disturbance: "_Disturbance",
    policy: Policy,
    flush: Callable[[], object] | None,
    result: Measurement,
    call: float,
    end: float,
) -> None:
    """Add slices until the noise target, the most samples or the end of the budget."""
    # One call outside the time finds the caches and threads as the yardstick left them.
    wake = flush is None and call < WAKING_SECONDS
    while True:
        disturbance.calm()
        if wake:
            kernel.run()
        disturbance.take(result, time_calls(kernel, result.number, flush))
        taken = len(result.seconds)
        result.judge(policy.target)
        if taken >= policy.max_samples or time.perf_counter() >= end + disturbance.waited:
            short = taken == 1 and result.number * result.seconds[0] <= policy.twice_seconds
            if taken and not short:
                return
        elif taken >= policy.min_samples and result.target_reached:
            return


class _Disturbance:
    """Reader of the yardstick around slices, which waits while the machine is disturbed."""

    def __init__(
        self,
        yardstick: YardstickReader | None,
        policy: Policy,
        read_device: Callable[[], dict[str, float]] | None = None,
    ) -> None:
        self.waited = 0.0
        self._yardstick = yardstick
        self._policy = policy
        self._read_device = read_device
        self._before: float | None = None

    @property
    def kind(self) -> str:
        """The kind of yardstick, "none" for none."""
        return self._yardstick.kind if self._yardstick else "none"

    def calm(self) -> None:
        """Take a reading before a slice, after waiting for a calm one within the wait budget."""
        if self._before is None:
            self._before = self._read(self._policy.reading_seconds)
        again = WAITING_SECONDS + self._policy.reading_seconds
        while self._is_disturbed(self._before) and self._may_wait_for(again):
            start = time.perf_counter()
            time.sleep(WAITING_SECONDS)
            self._before = self._read(self._policy.reading_seconds)
            self.waited += time.perf_counter() - start

    def take(self, result: Measurement, seconds: float) -> None:
        """File a slice with the readings around it, among the samples or put aside."""
        state = self._read_device() if self._read_device else {}
        before, self._before = self._before, self._read(self._next_to(seconds * result.number))
        if before is None or self._before is None:
            self._keep(result, seconds, state)
            return
        reading = (before + self._before) / 2
        disturbed = self._is_disturbed(self._before)
        again = seconds * result.number + self._policy.reading_seconds
        if disturbed and self._may_wait_for(again):
            result.put_aside.append((seconds, reading))
            self.waited += again
            return
        self._keep(result, seconds, state)
        result.yardstick.append(reading)
        result.disturbed += disturbed

    def _keep(self, result: Measurement, seconds: float, state: dict[str, float]) -> None:
        result.seconds.append(seconds)
        if self._read_device:
            result.device_readings.append(state)

    def _may_wait_for(self, seconds: float) -> bool:
        """Return whether the kernel, and the run, can afford it; it counts as spent by the run."""
        if self._yardstick is None or self.waited + seconds > self._policy.wait_seconds:
            return False
        return self._yardstick.may_wait(seconds)

    def _is_disturbed(self, reading: float | None) -> bool:
        nominal = self._yardstick.nominal if self._yardstick else None
        if reading is None or nominal is None:
            return False
        return reading > self._policy.disturbed_above * nominal

    def _read(self, seconds: float) -> float | None:
        reference = self._yardstick
        return reference.slice(reference.units_for(seconds)) if reference else None

    def _next_to(self, seconds: float) -> float:
        """Return the seconds of a reading next to a slice: the usual ones, or a tenth of a long
        call."""
        return max(self._policy.reading_seconds, min(0.1 * seconds, 0.25))


def time_calls(kernel: Timed, number: int, flush: Callable[[], object] | None = None) -> float:
    """Return seconds per call of ``number`` calls, device work included.

    With ``flush`` the caches are emptied first, outside the time. A kernel with a clock of its
    own is asked for the time instead.
    """
    if kernel.clock is not None:
        return kernel.clock(number)
    start, end = time_span(kernel, number, flush)
    return (end - start) / number


def time_span(
    kernel: Timed, number: int, flush: Callable[[], object] | None = None
) -> tuple[float, float]:
    """Return when ``number`` calls began and ended, by `time.perf_counter`.

    That of a kernel without a clock of its own; see `time_calls`.
    """
    kernel.reset()
    if flush is not None:
        flush()
    kernel.synchronise()
    run = kernel.run
    start = time.perf_counter()
    for _ in range(number):
        run()
    kernel.synchronise()
    return start, time.perf_counter()


LAUNCHES = 256
"""Most calls whose launching is timed: a GPU holds about a thousand before a launch waits."""


def launch_share(kernel: Timed, number: int) -> float:
    """Return which share of the time of ``number`` calls the host needs to launch them.

    Near 1 the device waits for the host. At most `LAUNCHES` calls are made.
    """
    kernel.reset()
    kernel.synchronise()
    run = kernel.run
    start = time.perf_counter()
    for _ in range(min(number, LAUNCHES)):
        run()
    launched = time.perf_counter()
    kernel.synchronise()
    return (launched - start) / (time.perf_counter() - start)


def _warm_up(
    kernel: Timed, policy: Policy, flush: Callable[[], object] | None, first: float
) -> tuple[float, bool]:
    """Run until two slices in a row agree within 5 %, or the time for it is over.

    Returns seconds per call, and whether it became steady. A long first call is all there is.
    """
    if first >= policy.single_warm_up_seconds:
        return first, False
    end = time.perf_counter() + policy.warmup_seconds
    previous, steady = first, policy.warmup_seconds == 0
    while not steady and time.perf_counter() < end:
        number = 1 if policy.cold else calls_per_slice(policy.slice_seconds / 2, previous)
        latest = time_calls(kernel, number, flush)
        steady = abs(latest - previous) <= 0.05 * previous
        previous = min(latest, previous) if steady else latest
    return previous, steady


def _flusher() -> Callable[[], object]:
    buffer = np.zeros(FLUSH_BYTES // 8)
    return lambda: np.add(buffer, 1.0, out=buffer)
