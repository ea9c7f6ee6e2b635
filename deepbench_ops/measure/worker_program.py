"""A live worker of a release: a process that prepares kernels and times slices on command.

Commands and answers are messages on standard input and output, so that it runs in any release's
environment: ``{"do": "prepare", "family": ..., "problem": ..., "precision": ...,
"operation": ...}`` answers with seconds per call, the implementation that computes, whether a slice
may be stopped on its way, the process's fingerprint, the kernel's notes and the kind of yardstick
that suits it, ``{"do": "slice", "calls": n, "woken": true}`` with seconds per call of one slice
and when it ended, ``{"do": "check"}`` with nothing, once the output of the last slice has passed
its check.
An error answers ``{"error": text}`` and leaves the worker alive. See `measure.ensemble_sweeps`.
"""

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from deepbench_ops import process_messages
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.errors import BeyondLimits, DeepbenchError
from deepbench_ops.measure import kernel_measurement, threads, yardstick
from deepbench_ops.measure.implementation_name import implementation_of
from deepbench_ops.measure.kernel_sampling import time_calls, time_span

REMEDY = (
    "fewer releases at once (deepbench history --together N), asv run, which measures one alone, or"
    " a larger limit may help"
)
"""Remedy for a kernel beyond the limits: all releases of a round share the memory."""

LONG_SECONDS = 1.0
"""Calls that take so long are not repeated before they are timed: a slice is one of them anyway."""


def fastest_call(kernel: Kernel) -> float:
    """Return the seconds of the fastest of three calls, or of as many as fill `LONG_SECONDS`."""
    taken: list[float] = []
    while len(taken) < 3 and sum(taken) < LONG_SECONDS:
        taken.append(time_calls(kernel, 1))
    return min(taken)


class Worker:
    """Worker with one prepared kernel at a time."""

    def __init__(self) -> None:
        self._kernel: Any = None
        self._calls = 0
        self._facts: dict[str, str] = {}

    def prepare(
        self, family: str, problem: str, precision: str, operation: str = "forward"
    ) -> dict[str, object]:
        """Build and check the kernel, warm it up, and return its seconds per call.

        Returned with them: which implementation computes, and whether it can be stopped on its way.
        It can be stopped on its way where all the work is done by this process's own threads.
        """
        self._kernel, self._calls = None, 0  # frees the operands of the last one first
        prepared = kernel_measurement.prepare(family, problem, precision, operation)
        self._kernel = prepared.kernel
        seconds = fastest_call(self._kernel)
        pinned = threads.pin(prepared.threads)
        named = implementation_of(self._kernel, seconds)
        device = prepared.backend.device
        alone = prepared.kernel.clock is None and device == "cpu"
        with suppress(DeepbenchError):  # an environment without the yardstick's library
            self._facts = kernel_measurement.conditions_of(prepared)
        return {
            "seconds": seconds,
            "stoppable": alone,
            "implementation": named,
            "facts": self._facts,
            "notes": {**prepared.kernel.notes, "threads": pinned},
            "yardstick": prepared.yardstick_kind if yardstick.exists(device) else "",
        }

    def slice(self, calls: int, woken: bool = False) -> dict[str, object]:
        """Time one slice.

        woken: whether one untimed call comes before it, which fills the caches and wakes threads.
        """
        self._calls = calls
        if woken:
            self._kernel.run()
        if self._kernel.clock is not None:
            return {"seconds": time_calls(self._kernel, calls), "ended": time.perf_counter()}
        # The very end of the calls: the process may be stopped before it could look again.
        began, ended = time_span(self._kernel, calls)
        return {"seconds": (ended - began) / calls, "ended": ended}

    def check(self) -> dict[str, object]:
        """Compare entries of the output that was timed with float64, at full size.

        For use after the last slice. Freed memory is not kept for it as in `asv run`: allocations
        of the kernels that this process times later would differ (`measure.memory_reuse`). Raises
        DeepbenchError where an entry is wrong.
        """
        kernel_measurement.check_output(self._kernel, self._calls)
        return {}


def main() -> None:
    """Answer commands until standard input ends."""
    answers = process_messages.reserved_output()
    kernel_measurement.preload(calibrating=False)  # the other releases are the reference
    worker = Worker()
    actions: dict[str, Callable[..., dict[str, object]]] = {
        "prepare": worker.prepare,
        "slice": worker.slice,
        "check": worker.check,
    }
    process_messages.answer(answers, {"ready": True})
    while (command := process_messages.read(sys.stdin.buffer)) is not None:
        action = actions[command.pop("do")]
        try:
            answer = action(**command)
        except Exception as error:
            remedy = f"; {REMEDY}" if isinstance(error, BeyondLimits) else ""
            answer = {"error": f"{type(error).__name__}: {error}{remedy}"}
        process_messages.answer(answers, answer)


if __name__ == "__main__":
    main()
