"""Compare the memory bandwidth that the triad reaches on threads and on processes, in turns.

    python bench/triad_in_turns.py --turns 8

On threads one Python process works on all blocks, as `deepbench machine` did until November 2026;
on processes each has its own part of the arrays, as now (`machine.triad_processes`). Each turn
measures both for a second, in random order, on as many cores as kernels have threads, next to the
latency between two cores, which shows the state of the machine. Printed are the rates in 10^9
bytes/s, and the medians of turns in which the latency stayed at one level.
"""

import argparse
import random
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from statistics import median

import numpy as np
from tabulate import tabulate

from deepbench_ops.backends import free_memory
from deepbench_ops.machine import machine_facts, memory_bandwidth, state_profile
from deepbench_ops.machine.triad_processes import BLOCK_ELEMENTS, triad_blocks
from deepbench_ops.measure import threads

SECONDS = 1.0


def on_threads(count: int, elements: int) -> float:
    """Return the bytes/s of the triad on threads of this process."""
    a, b, c = (np.full(elements, value) for value in (0.0, 1.0, 2.0))
    starts = range(0, elements, BLOCK_ELEMENTS)
    blocks = [tuple(x[i : i + BLOCK_ELEMENTS] for x in (a, b, c)) for i in starts]
    edges = [len(blocks) * i // count for i in range(count + 1)]
    shares = [blocks[first:last] for first, last in pairwise(edges)]
    fastest, end = float("inf"), time.perf_counter() + SECONDS
    with ThreadPoolExecutor(count) as pool:
        list(pool.map(triad_blocks, shares))
        while time.perf_counter() < end:
            start = time.perf_counter()
            list(pool.map(triad_blocks, shares))
            fastest = min(fastest, time.perf_counter() - start)
    return elements * memory_bandwidth.TRIAD_BYTES / fastest


def on_processes(count: int, elements: int) -> float:
    """Return the bytes/s of the triad on processes."""
    value = memory_bandwidth.triad(sorted(threads.cores(count)), elements, SECONDS).value
    assert value is not None
    return value


WAYS: dict[str, Callable[[int, int], float]] = {"threads": on_threads, "processes": on_processes}


def main() -> None:
    """Measure in turns, and print a line for each turn and way, then the medians."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--turns", type=int, default=8, help="how many (default 8)")
    count = threads.fix()
    elements = memory_bandwidth.triad_elements(
        machine_facts.last_level_caches(), free_memory.available()
    )
    rates: dict[tuple[float, str], list[float]] = defaultdict(list)
    for turn in range(parser.parse_args().turns):
        for way in random.sample(list(WAYS), len(WAYS)):
            before = state_profile.latencies(count)
            rate = WAYS[way](count, elements) / 1e9
            readings = [*before, *state_profile.latencies(count)]
            level = state_profile.level_now(None, readings)
            print(
                f"turn {turn + 1}, {way}: {rate:.1f}, latency {min(readings, default=0):.0f} to"
                f" {max(readings, default=0):.0f} ns",
                flush=True,
            )
            if level is not None and max(readings) < 1.35 * min(readings):
                rates[round(level, -2), way].append(rate)
    rows = [
        {"latency about, ns": level, "on": way, "turns": len(found), "GB/s, median": median(found)}
        for (level, way), found in sorted(rates.items())
    ]
    print(tabulate(rows, headers="keys", floatfmt=".1f"))


if __name__ == "__main__":
    main()
