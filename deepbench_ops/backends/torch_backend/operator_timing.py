"""Kernel that times the operations of a step one by one.

Its seconds are the sum over all calls of a step. The calls of each operation are timed together,
with nothing between them; the rest of the step's time is the framework's overhead. For its check
the kernel runs the whole step with exactly the operations that are timed, so the check of the step
covers all of them.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import torch

from deepbench_ops.backends.kernel import Index, Kernel
from deepbench_ops.backends.torch_backend import operator_trace
from deepbench_ops.backends.torch_backend.operator_trace import Operation
from deepbench_ops.errors import Unsupported
from deepbench_ops.run_conditions import CACHE


def kernel(step: Kernel) -> Kernel:
    """Return the kernel of a step's operations.

    It has the FLOPs and bytes of the step, and therefore the same yardstick. Raises Unsupported for
    cold caches, which are emptied before a step and not before each operation.
    """
    if CACHE.asked() != CACHE.usual:
        raise Unsupported(f"operations alone are not measured with {CACHE.asked()} caches")
    step.run()  # optimisers make their state in the first step
    step.reset()
    found = operator_trace.operations(step.run)
    step.reset()
    with torch.inference_mode():
        alone = [operation for operation in found if operation.repeats]

    def run() -> None:
        operator_trace.run_with_only(step.run, found)

    def peek(index: Index) -> np.ndarray:
        step.reset()
        run()  # the clock leaves no output
        return step.peek(index)

    return replace(
        step,
        label=f"{step.label}, its operations",
        run=run,
        peek=peek,
        clock=lambda number: seconds(alone, number, step.synchronise),
        notes={**step.notes, **_notes(found, alone)},
    )


def seconds(
    operations: Sequence[Operation], number: int, synchronise: Callable[[], object]
) -> float:
    """Return the seconds of all calls of a step, the mean over `number` steps.

    The calls of each operation are timed together, after one call that does not count.
    """
    taken = 0.0
    with torch.inference_mode():
        for operation in operations:
            call = operation.again()
            call()
            synchronise()
            start = time.perf_counter()
            for _ in range(number * operation.calls):
                call()
            synchronise()
            taken += time.perf_counter() - start
    return taken / number


def _notes(found: Sequence[Operation], alone: Sequence[Operation]) -> dict[str, str]:
    """Return notes: number of operations, and those left out because they cannot run alone."""
    repeated = {operation.key for operation in alone}
    missing = [operation for operation in found if operation.key not in repeated]
    names = ", ".join(dict.fromkeys(operation.name for operation in missing))
    return {
        "operations": _counted(found),
        "not repeated alone": f"{_counted(missing)}: {names}" if missing else "none",
    }


def _counted(operations: Sequence[Operation]) -> str:
    calls = sum(operation.calls for operation in operations)
    return f"{len(operations)}, called {calls} times"
