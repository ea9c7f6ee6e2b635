"""The triad a = b + 3c on the processors: a process for each thread, on a core of its own.

Threads of one Python process would take turns at the interpreter between blocks, which on many
cores takes longer than the blocks, and the pages of arrays that one of them fills would all lie in
the memory next to its core. Each process here fills its own part of the arrays. All begin a run at
the same moment; it ends with the last of them.

``python -m deepbench_ops.machine.triad_processes ELEMENTS SECONDS CPU CPU...`` prints the fastest
run and the number of runs, as JSON.
"""

import os
import sys
import time
from collections.abc import Iterable, Sequence
from multiprocessing.context import ForkContext, SpawnContext
from multiprocessing.synchronize import Barrier
from typing import Any

import numpy as np

from deepbench_ops import process_lifetime, process_messages

BLOCK_ELEMENTS = 2**14
"""Elements of a block of the triad: blocks of three arrays fit into the caches next to a core."""

LEAD_SECONDS = 0.002
"""Time from the last process's arrival to the start of a run: all of them are awake by then."""

LONGEST_WAIT_SECONDS = 120.0
"""Time that a process waits for the others; one that was killed never comes."""

RESULT = 7.0
"""Every element of a: b is 1 and c is 2."""


class Together:
    """Objects in memory that the processes share.

    start: of the present run, on the clock that all processes have. ends: of each process's part.
    goes_on: whether there is another run. fastest: seconds of the fastest run. runs: their number.
    """

    def __init__(self, context: ForkContext | SpawnContext, count: int) -> None:
        self.arrived: Barrier = context.Barrier(count)
        self.start: Any = context.RawValue("d")
        self.ends: Any = context.RawArray("d", count)
        self.goes_on: Any = context.RawValue("b")
        self.fastest: Any = context.RawValue("d", float("inf"))
        self.runs: Any = context.RawValue("l")


def member(place: int, cpu: int, elements: int, seconds: float, together: Together) -> None:
    """Take one part in all runs. Raises RuntimeError for a wrong result."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {cpu})
    a, b, c = (np.full(elements, value) for value in (0.0, 1.0, 2.0))
    starts = range(0, elements, BLOCK_ELEMENTS)
    blocks = [tuple(x[i : i + BLOCK_ELEMENTS] for x in (a, b, c)) for i in starts]
    triad_blocks(blocks)
    end = time.perf_counter() + seconds
    while True:
        together.arrived.wait(LONGEST_WAIT_SECONDS)
        if place == 0:
            together.goes_on.value = not together.runs.value or time.perf_counter() < end
            together.start.value = time.perf_counter() + LEAD_SECONDS
        together.arrived.wait(LONGEST_WAIT_SECONDS)
        if not together.goes_on.value:
            break
        while time.perf_counter() < together.start.value:
            continue
        triad_blocks(blocks)
        together.ends[place] = time.perf_counter()
        together.arrived.wait(LONGEST_WAIT_SECONDS)
        if place == 0:
            spent = max(together.ends) - together.start.value
            together.fastest.value = min(together.fastest.value, spent)
            together.runs.value += 1
    if a[0] != RESULT or a[-1] != RESULT:
        raise RuntimeError("the triad gave a wrong result")


def triad_blocks(blocks: Iterable[tuple[np.ndarray, ...]]) -> None:
    """Set a = b + 3c, block by block.

    The products stay in the cache: the memory is read for b and c, and written for a.
    """
    for a, b, c in blocks:
        np.multiply(c, 3.0, out=a)
        np.add(a, b, out=a)


def measure(elements: int, seconds: float, cpus: Sequence[int]) -> tuple[float, int]:
    """Return the seconds of the fastest run and the number of runs, with a process on each CPU.

    elements: of each array, over all processes; a multiple of the number of CPUs. Raises
    RuntimeError where a process fails.
    """
    context = ForkContext() if process_lifetime.FORKS else SpawnContext()
    together = Together(context, len(cpus))
    share = elements // len(cpus)
    processes = [
        context.Process(target=member, args=(place, cpu, share, seconds, together), daemon=True)
        for place, cpu in enumerate(cpus)
    ]
    for each in processes:
        each.start()
    for each in processes:
        each.join()
    if failed := sum(each.exitcode != 0 for each in processes):
        raise RuntimeError(f"{failed} of {len(processes)} processes failed")
    return together.fastest.value, together.runs.value


if __name__ == "__main__":
    process_lifetime.bind_forks()
    best, count = measure(
        int(sys.argv[1]), float(sys.argv[2]), [int(each) for each in sys.argv[3:]]
    )
    process_messages.write(sys.stdout.buffer, {"seconds": best, "runs": count})
