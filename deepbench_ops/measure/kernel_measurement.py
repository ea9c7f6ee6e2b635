"""One problem in one process: prepare, check, time, record.

The asv benchmark type and the live workers both go through here, so that a timeline and a
verdict never measure different things.
"""

import gc
import math
import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Protocol

from deepbench_ops import backends, process_lifetime
from deepbench_ops.backends import output_check, reference_cache
from deepbench_ops.backends.backend_interface import Backend
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.run_cache import RunCache
from deepbench_ops.errors import BeyondLimits, DeepbenchError, Unsupported
from deepbench_ops.measure import (
    call_estimate,
    device_notes,
    fingerprint,
    gpu_readings,
    nominal_readings,
    record_handover,
    threads,
    yardstick,
)
from deepbench_ops.measure.implementation_name import implementation_of, is_asked
from deepbench_ops.measure.kernel_sampling import Measurement, Policy, measure
from deepbench_ops.measure.memory_reuse import freed_memory_kept
from deepbench_ops.measure.nominal_readings import Choice, NominalReadings
from deepbench_ops.measure.record_handover import rounded
from deepbench_ops.measure.yardstick_process import YardstickClient, YardstickProcess
from deepbench_ops.problems.problem import Problem, computed
from deepbench_ops.problems.problem_ids import problem_of
from deepbench_ops.run_conditions import CACHE, DEVICE, EXECUTION, LAYOUT

CORE_LATENCY = "core_latency"
"""Name of the column of a record that has the latency between two cores, in nanoseconds."""

# A single call longer than this is skipped, unless DEEPBENCH_CALL_LIMIT says otherwise.
CALL_LIMIT_SECONDS = 30.0

_implementations = RunCache("implementation of a kernel")

NOMINAL_VARIABLE = nominal_readings.VARIABLE
"""Variable with the nominal yardstick readings of the machine's profile."""


class MeasuredBackend(Protocol):
    """Backend, or ranks in their own processes, that run a kernel."""

    @property
    def device(self) -> str:
        """Name of the device."""

    def versions(self) -> dict[str, str]:
        """Return the versions of the libraries that run the kernel."""


@dataclass(frozen=True)
class CheckedKernel:
    """A kernel that has passed its check, with its executor and its number of threads."""

    backend: MeasuredBackend
    kernel: Kernel
    threads: int

    @property
    def yardstick_kind(self) -> str:
        """The kind of yardstick that suits the kernel's FLOPs and bytes."""
        return yardstick.kind_for(self.kernel.flops, self.kernel.bytes, self.backend.device)

    @property
    def yardstick_client(self) -> YardstickClient | None:
        """Client of the yardstick that calibrates it; None on a device without one that runs."""
        if not yardstick.exists(self.backend.device):
            return None
        kind = self.yardstick_kind
        try:
            return _server().client(kind, nominal(kind, threads.wanted()))
        except DeepbenchError as fault:
            if self.backend.device == yardstick.PROCESSOR:
                raise
            print(f"deepbench: times stay raw: {fault}", file=sys.stderr)
            return None

    @property
    def policy(self) -> Policy:
        """Policy of its sampling."""
        return policy()

    def pin(self) -> str:
        """Give the threads that have worked a core each; return the settings, for the record."""
        return threads.pin(self.threads)


def framework() -> str:
    """Return the framework under test, from ``DEEPBENCH_FRAMEWORK``."""
    return os.environ.get("DEEPBENCH_FRAMEWORK", backends.NAMES[0])


def device() -> str:
    """Return the device under test, from ``DEEPBENCH_DEVICE``."""
    return DEVICE.of(os.environ)


def preload(calibrating: bool = True) -> None:
    """Fix the threads and import the framework, so that forked children need not.

    A thread pool or a device context made here would not survive the fork.
    ``calibrating``: whether the yardstick will calibrate the kernels. The children end with
    this process.
    """
    process_lifetime.bind_forks()
    threads.fix()
    if calibrating and yardstick.exists(device()):
        _server()  # started before the framework, and shared by all that are forked later
    with suppress(DeepbenchError):  # preparing a kernel will name the missing part
        kind = backends.preload(framework())
        if device() == DEVICE.usual and is_asked():
            kind.before_forks()
        yardstick.versions()
    fingerprint.of_the_run()
    reference_cache.code()
    gc.freeze()  # or every child would go through all that was imported before it measures


@cache
def _server() -> YardstickProcess:
    return YardstickProcess()


@cache
def _backend() -> Backend:
    count = threads.fix()
    backend = backends.load(framework(), device())
    backend.layout, backend.execution = LAYOUT.asked(), EXECUTION.asked()
    backend.set_threads(count)
    return backend


def prepare(
    family: str, problem_id: str, precision: str, operation: str = "forward"
) -> CheckedKernel:
    """Build the kernel of a problem, after its small twin passed the check against float64.

    Raises Unsupported with the reason where the framework cannot do it, BeyondLimits where it would
    not fit in memory or one call would take longer than the limit, and DeepbenchError where an
    output is wrong.
    """
    threads.unpin()
    backend = _backend()
    if CACHE.asked() != CACHE.usual and backend.device != DEVICE.usual:
        raise Unsupported(
            f"{CACHE.variable}={CACHE.asked()} is of the processor's caches, not of"
            f" {backend.device}'s"
        )
    problem = problem_of(family, problem_id)
    output_check.verify(backend, problem, precision, operation)
    demand_memory(backend, problem, precision, operation)
    limit = call_limit()
    expected = call_estimate.seconds(backend, problem, precision, computed(operation), limit)
    if expected > limit:
        raise BeyondLimits(
            f"one call would take about {expected:.2g} s with {backend.name}, more than the limit "
            f"of {limit:g} s (DEEPBENCH_CALL_LIMIT)"
        )
    kernel = backend.build(problem, precision, operation)
    return CheckedKernel(backend, kernel, threads.wanted())


def demand_memory(backend: Backend, problem: Problem, precision: str, operation: str) -> None:
    """Raise BeyondLimits, with the bytes needed and available, for a kernel larger than memory."""
    needed = backend.memory_needed(problem, precision, operation)
    available = backend.memory_available()
    if needed > available:
        raise BeyondLimits(
            f"{problem.id} needs about {needed:.3g} bytes of memory on {backend.device}, and "
            f"{available:.3g} are available"
        )


def call_limit() -> float:
    """Return the seconds from ``DEEPBENCH_CALL_LIMIT``; DeepbenchError unless above zero."""
    text = os.environ.get("DEEPBENCH_CALL_LIMIT", str(CALL_LIMIT_SECONDS))
    with suppress(ValueError):
        if float(text) > 0:
            return float(text)
    raise DeepbenchError(f"DEEPBENCH_CALL_LIMIT is {text!r}: give a number of seconds above 0")


def policy() -> Policy:
    """Return the sampling policy, with the cache state from ``DEEPBENCH_CACHE``."""
    return Policy(cold=CACHE.asked() == "cold")


def nominal(kind: str, thread_count: int, latencies: Sequence[float] = ()) -> float | None:
    """Return the machine profile's yardstick reading, None where none fits.

    latencies: between two cores, in nanoseconds, of a machine that has several states.
    """
    return NominalReadings.given().choice(kind, thread_count, latencies).seconds


def timed(
    prepared: CheckedKernel,
    benchmark: str,
    params: Sequence[str],
    quick: bool = False,
    preparing: float = 0.0,
) -> dict[str, object]:
    """Time a prepared kernel, write its record, and return asv's form of the samples.

    preparing: the seconds that it took to prepare the kernel, for the record.

    Returns ``{"samples": seconds per call, "number": calls per sample}``: calibrated seconds
    where the device has a yardstick and the profile its nominal reading, raw seconds otherwise.
    """
    started = time.time()
    rules = prepared.policy.quick() if quick else prepared.policy
    client = prepared.yardstick_client
    pinned: list[str] = []
    latencies = [_latency(prepared, client)]
    if client is not None:
        client.nominal = _choice(client, latencies).seconds
    measurement = measure(
        prepared.kernel,
        client,
        rules,
        lambda: pinned.append(prepared.pin()),
        _reader(prepared, client, latencies[0]),
    )
    remarks = device_notes.of(prepared.kernel, measurement, prepared.backend.device)
    latencies.append(_latency(prepared, client))
    timed_until = time.monotonic()
    with freed_memory_kept():
        check_output(prepared.kernel, measurement.number)
    spent = {
        "preparing": rounded(preparing),
        "kernel": rounded(measurement.kernel_seconds),
        "measuring": rounded(measurement.spent_seconds),
        "checking": rounded(time.monotonic() - timed_until),
    }
    choice = Choice(None) if client is None else _choice(client, latencies)
    reference = choice.seconds
    samples = [rounded(s) for s in measurement.calibrated(reference)]
    named = _implementation(prepared, min(measurement.seconds), benchmark, *params)
    remarks = {"threads": "; ".join(pinned), **remarks}
    entry = {
        **_identity(benchmark, params, started),
        **_record(prepared, measurement, choice, remarks, named),
        **_latencies(latencies),
        **device_notes.readings(measurement),
        "spent": spent,
    }
    record_handover.write({**entry, "quick": True} if quick else entry)
    return {"samples": samples, "number": measurement.number}


def check_output(kernel: Kernel, calls: int) -> None:
    """Compare entries of the output after a slice of so many calls with float64, on all cores.

    Raises DeepbenchError where one is wrong.
    """
    threads.unpin()  # the check's own threads would all start on one core
    # After a slice of one call the output is already that of a single run.
    output_check.verify_output(kernel, run=calls != 1)


def conditions_of(prepared: CheckedKernel) -> dict[str, str]:
    """Return the fingerprint of this process: machine, libraries, threads and yardstick."""
    device = prepared.backend.device
    more = {
        **gpu_readings.facts(device),
        **prepared.backend.versions(),
        **yardstick.versions(),
        **yardstick.device_versions(device),
    }
    return fingerprint.stable(more, prepared.threads)


def skipped(benchmark: str, params: Sequence[str], reason: str) -> None:
    """Record the reason why a problem is not measured; asv only prints it."""
    record_handover.write({**_identity(benchmark, params, time.time()), "skipped": reason})


def _identity(benchmark: str, params: Sequence[str], started: float) -> dict[str, object]:
    return {
        "benchmark": benchmark,
        "params": list(params),
        "release": os.environ.get("DEEPBENCH_RELEASE", ""),
        "started_at": round(started, 3),
    }


def _implementation(prepared: CheckedKernel, seconds: float, *point: str) -> str:
    """Return which implementation computes a kernel; from an earlier process of its point.

    The question takes a call of the kernel, so that only one process of a point asks.
    """
    kernel, backend = prepared.kernel, prepared.backend
    key = (backend.device, sorted(backend.versions().items()), point, sorted(kernel.notes.items()))
    known = _implementations.get(key)
    if known is None:
        known = implementation_of(kernel, seconds)
        _implementations.put(key, known)
    return str(known)


def _record(
    prepared: CheckedKernel,
    measurement: Measurement,
    choice: Choice,
    remarks: dict[str, str],
    named: str,
) -> dict[str, object]:
    return {
        "number": measurement.number,
        "seconds": [rounded(s) for s in measurement.seconds],
        "yardstick": [rounded(s) for s in measurement.yardstick],
        "yardstick_kind": measurement.yardstick_kind,
        "nominal": choice.seconds,
        "put_aside": [[rounded(s), rounded(y)] for s, y in measurement.put_aside],
        "disturbed": measurement.disturbed,
        "noise": rounded(measurement.noise) if math.isfinite(measurement.noise) else None,
        "target_reached": measurement.target_reached,
        "notes": {
            **{name: text for name, text in prepared.kernel.notes.items() if text != named},
            **prepared.kernel.outcome(),
            **remarks,
            "threads": remarks["threads"] or "not pinned",
            **({"calibration": choice.remark} if choice.remark else {}),
        },
        **({"implementation": named} if named else {}),
        "readings": fingerprint.readings(),
        "fingerprint": conditions_of(prepared),
    }


def _latency(prepared: CheckedKernel, client: YardstickClient | None) -> float | None:
    """Return the latency between two cores; None where the kernel runs on one, or elsewhere."""
    if client is None or prepared.backend.device != yardstick.PROCESSOR:
        return None
    return client.core_latency()


def _reader(
    prepared: CheckedKernel, client: YardstickClient | None, latency: float | None
) -> Callable[[], dict[str, float]] | None:
    """Return the function that reads the device after each sample; None where there is nothing.

    latency: between two cores before the first sample, in nanoseconds; None where it is not read.
    """
    if client is None or latency is None:
        return gpu_readings.reader(prepared.backend.device)

    def read() -> dict[str, float]:
        found = client.core_latency()
        return {} if found is None else {CORE_LATENCY: found}

    return read


def _choice(client: YardstickClient, latencies: Sequence[float | None]) -> Choice:
    return NominalReadings.given().choice(client.kind, threads.wanted(), latencies)


def _latencies(readings: Sequence[float | None]) -> dict[str, list[float]]:
    """Return the readings before and after the kernel, for the record; {} where one is missing."""
    known = [rounded(each) for each in readings if each is not None]
    return {"core_latencies": known} if len(known) == len(readings) else {}
