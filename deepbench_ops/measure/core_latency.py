"""Latency between two cores: how long one byte takes from one to the other and back.

A virtual machine's cores are moved by its host: for minutes at a time they share a last-level
cache, or they do not. Nothing inside of the machine announces it, and the time of a kernel on two
threads can change by half. Two processes, one on each core, answer each other through one byte of
shared memory; a round trip takes about 250 ns within one cache and 450 ns across two.

``python -m deepbench_ops.measure.core_latency 0 1`` prints the latency between two cores.
"""

import mmap
import os
import signal
import subprocess
import sys
import time
from collections.abc import Collection
from contextlib import suppress

from deepbench_ops import lifetime

TURNS, BLOCK = 20_000, 200
"""Round trips of a reading, and of each of its blocks; the fastest block counts."""

ENOUGH_SECONDS = 0.3
"""After so long a reading ends with the blocks it has: other programs may want the two cores."""

LIMIT_SECONDS = 10.0
"""A reading that takes longer, the start of its process included, is given up."""


def read(cores: Collection[int]) -> float | None:
    """Return nanoseconds of a round trip between the first two of these cores.

    None where there is only one, or no reading was possible. It takes about a tenth of a second.
    """
    pair = sorted(cores)[:2]
    if len(pair) < 2:
        return None
    command = [sys.executable, "-m", __spec__.name, *map(str, pair)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=True
        )
        return float(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def between(one: int, other: int) -> float | None:
    """Return nanoseconds of a round trip between two cores, by a process of its own on each.

    None where not even one block of round trips ended in time. Only for the main thread of a
    process without other threads: it forks, and takes the alarm signal.
    """
    shared = mmap.mmap(-1, 1)
    asker = os.getpid()
    partner = os.fork()
    if not partner:
        try:
            lifetime.end_with(asker)
            os.sched_setaffinity(0, {other})
            _answer(shared)
        finally:
            os._exit(0)
    try:
        os.sched_setaffinity(0, {one})
        blocks = _blocks(shared)
    finally:
        os.kill(partner, signal.SIGKILL)
        os.waitpid(partner, 0)
    return 1e9 * min(blocks) / BLOCK if blocks else None


def _blocks(shared: mmap.mmap) -> list[float]:
    """Return the seconds of each block of round trips that ended in time."""
    blocks: list[float] = []
    signal.signal(signal.SIGALRM, _out_of_time)
    signal.setitimer(signal.ITIMER_REAL, ENOUGH_SECONDS)
    with suppress(TimeoutError):
        for _ in range(TURNS // BLOCK):
            blocks.append(_block(shared))
        signal.setitimer(signal.ITIMER_REAL, 0)
    return blocks


def _out_of_time(*_: object) -> None:
    raise TimeoutError


def _block(shared: mmap.mmap) -> float:
    """Return the seconds that a block of round trips takes."""
    began = time.perf_counter()
    for _ in range(BLOCK):
        shared[0] = 1
        while shared[0]:
            pass
    return time.perf_counter() - began


def _answer(shared: mmap.mmap) -> None:
    while True:
        while not shared[0]:
            pass
        shared[0] = 0


if __name__ == "__main__":
    print(between(*map(int, sys.argv[1:3])))
