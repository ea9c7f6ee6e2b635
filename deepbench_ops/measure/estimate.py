"""How long a call will take, asked before the first one: some would take minutes."""

from contextlib import suppress
from typing import Any

from deepbench_ops.backends.base import Backend
from deepbench_ops.backends.check import cut_down, kind_of
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.errors import Unsupported
from deepbench_ops.measure.sampling import time_calls

PROBE = {"m": 192, "n": 192, "k": 192}
"""The sizes to which a problem is cut down: large enough to show a rate."""

PROBE_CALLS = 50
PROBE_SECONDS = 0.05
"""An estimate stops after so many calls, or so long a time and three calls."""

_rates: dict[tuple[object, ...], float] = {}


def seconds(backend: Backend, problem: Any, precision: str) -> float:
    """Return about how long one run will take, within a few times on a quiet machine.

    From the best rate that a cut-down problem reaches, so that a kernel without a fast library
    behind it can be told from the rest. Tried with one thread as well: while other processes
    hold the processors, threads that wait for each other may run hundreds of times below their
    rate, a single one only a few times. Raises Unsupported as building the kernel does.
    """
    probe = cut_down(problem, PROBE)
    kind = kind_of(backend, probe, precision)
    if kind not in _rates:
        kernel = backend.build(problem.family, probe, precision)
        best = min(_best_of_some(kernel), _best_on_one_thread(backend, kernel))
        _rates[kind] = probe.flops / best
    return float(problem.flops / _rates[kind])


def _best_on_one_thread(backend: Backend, kernel: Kernel) -> float:
    """Return the same with one thread, infinity where that makes no difference."""
    threads = backend.threads()
    if backend.device == "cpu" and threads is not None and threads > 1:
        with suppress(Unsupported):
            backend.set_threads(1)
            try:
                return _best_of_some(kernel)
            finally:
                backend.set_threads(threads)
    return float("inf")


def _best_of_some(kernel: Kernel) -> float:
    """Return the seconds of the fastest of a few calls; the slow ones tell of other processes."""
    best, spent, calls = float("inf"), 0.0, 0
    while calls < 3 or (calls < PROBE_CALLS and spent < PROBE_SECONDS):
        call = time_calls(kernel, 1)
        best, spent, calls = min(best, call), spent + call, calls + 1
    return best
