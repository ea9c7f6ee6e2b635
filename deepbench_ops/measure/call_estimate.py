"""Estimate of the seconds of a call, before the first one: some would take minutes."""

import math
from contextlib import suppress

from deepbench_ops.backends import families
from deepbench_ops.backends.backend_interface import Backend
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.output_check import kind_of
from deepbench_ops.backends.run_cache import RunCache
from deepbench_ops.errors import Unsupported
from deepbench_ops.measure.kernel_sampling import time_calls
from deepbench_ops.problems.problem import Problem
from deepbench_ops.run_conditions import EXECUTION

PROBE_CALLS = 50
PROBE_SECONDS = 0.05
"""An estimate stops after so many calls, or so long a time and three calls."""

LONG_SECONDS = 0.25
"""Of calls that take so long together two are enough."""

LONGEST_TRIAL_SECONDS = 3.0
"""A larger problem is tried where the rate of the smaller one lets it take no longer; and a call
that takes so long is tried once. The first of two may be slower, where something is made for it."""

_rates = RunCache("work done in a second")


def seconds(
    backend: Backend, problem: Problem, precision: str, operation: str, limit: float = math.inf
) -> float:
    """Return about how long one run will take, within a few times on a quiet machine, or too long
    where a framework spends more on each operation than there is to compute.

    From the best rate that a cut-down problem reaches, so that a kernel without a fast library is
    recognised. A rate that would put the call beyond `limit` is tried on larger and larger ones, as
    far as they take moments: small ones may show only the time that a framework spends on each
    operation, however little there is to compute. Raises Unsupported as building the kernel does.
    """
    work, times = problem.amount_of_work(precision, operation), 1
    allowed = work / limit
    while True:
        probe, larger = (families.probe(problem, each) for each in (times, 2 * times))
        onward = math.inf
        if larger != probe:
            onward = larger.amount_of_work(precision, operation) / LONGEST_TRIAL_SECONDS
        rate = _rate(backend, probe, precision, operation, min(allowed, onward))
        if rate >= allowed or rate < onward:
            return work / rate
        times *= 2


def _rate(backend: Backend, probe: Problem, precision: str, operation: str, enough: float) -> float:
    """Return the best rate of a cut-down problem, remembered in an asv run beyond the process.

    One that is not enough is tried with one thread as well: while other processes hold the
    processors, threads that wait for each other may run hundreds of times below their rate, a
    single one only a few times. Where that was not enough either, the next process tries again, and
    the better one is kept.
    """
    kind = kind_of(backend, probe, precision, operation)
    known = _rates.get(kind) or 0.0
    if known and known >= enough:
        return float(known)
    kernel = backend.build(probe, precision, operation)
    work = probe.amount_of_work(precision, operation)
    rate = max(known, work / _best_of_some(kernel))
    if not known and rate < enough:
        rate = max(rate, work / _best_on_one_thread(backend, kernel))
    _rates.put(kind, rate)
    return float(rate)


def _best_on_one_thread(backend: Backend, kernel: Kernel) -> float:
    """Return the same with one thread, infinity where that makes no difference.

    A compiled kernel would have to be compiled again for it, and a session keeps its threads.
    """
    threads, eager = backend.threads(), backend.execution == EXECUTION.usual
    if backend.device == "cpu" and threads is not None and threads > 1 and eager:
        with suppress(Unsupported):
            backend.set_threads(1)
            try:
                return _best_of_some(kernel)
            finally:
                backend.set_threads(threads)
    return float("inf")


def _best_of_some(kernel: Kernel) -> float:
    """Return the seconds of the fastest of a few calls; other processes slow some down."""
    best, spent, calls = float("inf"), 0.0, 0
    least = ((2, LONGEST_TRIAL_SECONDS), (3, LONG_SECONDS), (PROBE_CALLS, PROBE_SECONDS))
    while any(calls < count and spent < limit for count, limit in least):
        call = time_calls(kernel, 1)
        best, spent, calls = min(best, call), spent + call, calls + 1
    return best
