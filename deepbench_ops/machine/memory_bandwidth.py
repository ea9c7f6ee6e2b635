"""Memory bandwidth of this machine: bytes/s of a triad on its processors and GPUs, or of a copy."""

import importlib
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from deepbench_ops import process_lifetime, process_messages
from deepbench_ops.errors import DeepbenchError, Unsupported
from deepbench_ops.machine import triad_processes
from deepbench_ops.machine.machine_profile import Figure
from deepbench_ops.measure import device_yardsticks, yardstick

BYTE_RATE = "bytes/s"

ELEMENT_BYTES = 8
TRIAD_BYTES = 3 * ELEMENT_BYTES

GPU_ELEMENTS = 2**28
GPU_LEAST_ELEMENTS = 2**25
GPU_ELEMENT_BYTES = 4
"""Elements of each array of the triad on a GPU, and how few they may be where little memory is
free: three arrays of 128 MiB exceed the caches."""

SMALLEST_CACHE = 16 * 2**20
"""Bytes that the caches have at least, also where the system does not describe them."""

ENOUGH = 2.0
"""Size of the three arrays together, divided by that of the caches, from which on the memory is
measured. Arrays a quarter as large as the caches have 2.6 times the bandwidth of the memory."""

LIMIT_SECONDS = 300.0
"""Time until which the triad has to end."""


def triad(cpus: Sequence[int], elements: int, seconds: float) -> Figure:
    """Return the bytes/s of a = b + 3c, float64, with a process on each CPU, best of `seconds`.

    elements: of each array. The memory reads b and c and writes a: 24 bytes an element, as STREAM
    counts. (A processor that reads a cache line before it writes it moves 32 bytes; STREAM does not
    count these.) Raises DeepbenchError where a process fails, or numpy computes a wrong result.
    """
    elements -= elements % len(cpus)
    arguments = map(str, (elements, seconds, *cpus))
    command = [sys.executable, "-m", triad_processes.__name__, *arguments]
    try:
        ended = subprocess.run(
            process_lifetime.bound(command), capture_output=True, text=True, timeout=LIMIT_SECONDS
        )
        found = process_messages.last_printed(ended.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired) as wrong:
        raise DeepbenchError(f"the triad on {len(cpus)} processes failed: {wrong}") from None
    if ended.returncode or found is None:
        lines = ended.stderr.strip().splitlines() or [f"status {ended.returncode}"]
        raise DeepbenchError(f"the triad on {len(cpus)} processes failed: {lines[-1]}")
    how = (
        f"measured: triad a = b + 3c, 3 x {elements * ELEMENT_BYTES >> 20} MiB float64, "
        f"24 bytes an element, numpy {np.__version__}, {len(cpus)} processes, best of"
        f" {found['runs']}"
    )
    return Figure(elements * TRIAD_BYTES / found["seconds"], BYTE_RATE, how)


def triad_elements(cache_bytes: int, free_bytes: float) -> int:
    """Return the number of elements of each array: four times the last-level caches of all cores,
    at least 64 MiB and at most an eighth of the free memory.

    Raises Unsupported where such arrays would lie in the caches.
    """
    cached = max(SMALLEST_CACHE, cache_bytes)
    elements = int(min(4 * cached, free_bytes / 8)) // ELEMENT_BYTES
    if elements * TRIAD_BYTES < ENOUGH * cached:
        raise Unsupported(
            f"{free_bytes / 2**20:.0f} MiB of memory are free: arrays of an eighth each would lie"
            f" in the caches of {cached / 2**20:.0f} MiB"
        )
    return elements


def cuda_triad(seconds: float, clock: Callable[[], float] = time.perf_counter) -> Figure:
    """Return the bytes/s of the triad on an accelerator, float32, through torch, best of `seconds`.

    Its arrays take at most half of the free memory. Raises Unsupported without torch, without an
    accelerator that torch can use, and where less than 0.8 GiB of its memory is free.
    """
    try:
        torch: Any = importlib.import_module("torch")
    except ImportError:
        raise Unsupported("torch is not installed") from None
    if not torch.cuda.is_available():
        raise Unsupported(f"torch {torch.__version__} sees no accelerator")
    free, _ = torch.cuda.mem_get_info()
    elements = min(GPU_ELEMENTS, free // 2 // (3 * GPU_ELEMENT_BYTES))
    if elements < GPU_LEAST_ELEMENTS:
        raise Unsupported(f"{free / 2**30:.1f} GiB of the accelerator's memory are free")
    a, b, c = (torch.full((elements,), float(value), device="cuda") for value in range(3))

    def once() -> float:
        torch.cuda.synchronize()
        start = clock()
        torch.add(b, c, alpha=3, out=a)
        torch.cuda.synchronize()
        return clock() - start

    once()
    runs, fastest, end = 1, once(), clock() + seconds
    while clock() < end:
        fastest = min(fastest, once())
        runs += 1
    how = (
        f"measured: triad a = b + 3c, 3 x {elements * GPU_ELEMENT_BYTES >> 20} MiB float32, "
        f"12 bytes an element, torch {torch.__version__}, best of {runs}"
    )
    return Figure(elements * 3 * GPU_ELEMENT_BYTES / fastest, BYTE_RATE, how)


def copy_rate(device: str, seconds: float) -> Figure:
    """Return the bytes/s of the memory workload of a device's yardstick, best of `seconds`.

    Raises Unsupported where the yardstick declares no number of bytes, or the device none.
    """
    own = device_yardsticks.of(device)
    if own is None or not own.memory.bytes:
        raise Unsupported(f"{device} declares no workload that moves a known number of bytes")
    kind = yardstick.kinds(device)[-1]
    unit = yardstick.nominal(kind, 1, seconds)
    how = f"measured: {yardstick.description(kind, 1)}"
    return Figure(own.memory.bytes / unit, BYTE_RATE, how)
