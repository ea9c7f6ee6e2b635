"""Kernel that runs each operation of a step alone, to be timed like the step itself.

Its seconds are those of all calls that a step makes, each operation's one after the other with
nothing between them; the rest of the step's time is the framework's overhead. For a check it runs
the whole step, by the very operations that are timed and by no others, so that the check of the
step covers all of them.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import torch

from deepbench_ops.backends.kernel import Index, Kernel
from deepbench_ops.backends.torch_backend import operator_trace
from deepbench_ops.backends.torch_backend.operator_trace import Operation
from deepbench_ops.conditions import CACHE
from deepbench_ops.errors import Unsupported


def kernel(step: Kernel) -> Kernel:
    """Return the kernel of a step's operations. It has the step's FLOPs and bytes, and so the same
    yardstick. Raises Unsupported for cold caches, which only a step of its own could be given."""
    if CACHE.asked() != CACHE.usual:
        raise Unsupported(f"what operations take alone is not measured {CACHE.asked()}")
    step.run()  # optimisers first make room for what they remember
    step.reset()
    found = operator_trace.operations(step.run)
    step.reset()
    with torch.inference_mode():
        alone = [operation for operation in found if operation.repeats]

    def run() -> None:
        operator_trace.done_by(step.run, found)

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
    """Return the seconds of all calls that a step makes, each operation's timed together, of the
    mean of so many steps. One call before them does not count."""
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
    """How many there are, and those that are missing because they cannot be repeated alone."""
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
