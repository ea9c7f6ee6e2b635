"""Peak rates of this machine: FLOP/s from large products, bytes/s from a triad.

They are the roofs of its results. Each is the best of many runs, with a note on how it was
measured. None comes from a data sheet, whose rates the machine may not reach.
"""

import importlib
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from deepbench_ops import backends
from deepbench_ops.backends import output_check
from deepbench_ops.backends.backend_interface import Backend
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.errors import DeepbenchError, Unsupported
from deepbench_ops.machine.machine_profile import Figure
from deepbench_ops.measure import device_yardsticks, yardstick
from deepbench_ops.problems.gemm import Gemm
from deepbench_ops.problems.precision import PRECISIONS
from deepbench_ops.problems.problem import Problem
from deepbench_ops.problems.quantised_linear import QuantisedLinear

GPU = "cuda"
"""The device that `machine_facts.accelerators` lists."""

FP8 = "fp8"
"""The peak of 8-bit floating point (`Precision.product`), which is measured on GPUs only."""

FLOP_RATE = "FLOP/s"
BYTE_RATE = "bytes/s"

SMALLEST, LARGEST = 512, 8192
"""Sizes of the first and of the largest product that is measured."""

LONGEST_SECONDS = 0.5
"""Time that the next product, doubled in each dimension, must not exceed."""

BEST_OF_SECONDS = 0.5
"""Seconds of repeated runs whose best counts."""

BLOCK_ELEMENTS = 2**14
"""Elements of a block of the triad: blocks of three arrays fit into the caches next to a core."""
ELEMENT_BYTES = 8
TRIAD_BYTES = 3 * ELEMENT_BYTES

Clock = Callable[[], float]


def product(size: int, peak: str) -> tuple[Problem, str]:
    """Return a square product whose rate is a peak, and its precision.

    The peak of 8-bit floating point is that of a linear layer with a scale for each row. That of
    int8 has the layout for which GPUs have instructions: the summed axis is contiguous in both.
    """
    if peak == FP8:
        return QuantisedLinear(m=size, n=size, k=size), "fp8_row"
    return Gemm(size, size, size, a_transposed=peak == "int8"), peak


def gemm_peaks(
    device: str,
    threads: int,
    deadline: float,
    clock: Clock = time.perf_counter,
    frameworks: tuple[str, ...] = backends.NAMES,
) -> dict[str, Figure]:
    """Return the FLOP/s by precision on a device: the best of the installed ones of `frameworks`.

    deadline: reading of `clock` after which no product is begun. A precision that no framework has,
    or that comes after the deadline, has a figure without a value, with the reason.
    """
    loaded, missing = load_all(device, threads, frameworks)
    peaks = {}
    for precision in (*PRECISIONS, *((FP8,) if device == GPU else ())):
        found = [_attempt(backend, precision, deadline, clock) for backend in loaded] + missing
        peaks[precision] = best(found)
    return peaks


def best(found: list[Figure]) -> Figure:
    """Return the figure with the highest value, or one without a value with all reasons."""
    measured = [figure for figure in found if figure.value is not None]
    if measured:
        return max(measured, key=lambda figure: figure.value or 0.0)
    reasons = "; ".join(figure.how.removeprefix("not measured: ") for figure in found)
    return Figure(None, FLOP_RATE, f"not measured: {reasons or 'no framework is installed'}")


def gemm_peak(
    backend: Backend, precision: str, seconds: float, clock: Clock = time.perf_counter
) -> Figure:
    """Return the FLOP/s of the largest square product below LONGEST_SECONDS, best of `seconds`.

    Raises Unsupported where the backend does not have it, DeepbenchError for a wrong result.
    """
    output_check.verify(backend, *product(SMALLEST, precision))
    size = SMALLEST
    kernel, fastest = _prepare(backend, size, precision, clock)
    while size < LARGEST and fastest * 8 < LONGEST_SECONDS:
        size *= 2
        kernel, fastest = _prepare(backend, size, precision, clock)
    runs, end = 1, clock() + seconds
    while clock() < end:
        fastest = min(fastest, _once(kernel, clock))
        runs += 1
    release = f"{backend.name} {backend.versions().get(backend.name, '')}".strip()
    how = f"measured: {size}^3 GEMM, {release}, best of {runs}"
    return Figure(kernel.flops / fastest, FLOP_RATE, how)


def triad(threads: int, elements: int, seconds: float, clock: Clock = time.perf_counter) -> Figure:
    """Return the bytes/s of a[:] = b + s·c on `threads` threads, float64, best of `seconds`.

    numpy makes a temporary array for s·c. In blocks that stay in the cache this array does not
    reach memory, which only reads b and c and writes a: 24 bytes an element, as STREAM counts. (A
    processor that reads a cache line before it writes it moves 32 bytes; STREAM does not count
    these.)

    Raises DeepbenchError where numpy computes a wrong result.
    """
    a, b, c = (np.full(elements, value) for value in (0.0, 1.0, 2.0))
    starts = range(0, elements, BLOCK_ELEMENTS)
    blocks = [tuple(x[i : i + BLOCK_ELEMENTS] for x in (a, b, c)) for i in starts]
    edges = [len(blocks) * i // threads for i in range(threads + 1)]
    shares = [blocks[first:last] for first, last in pairwise(edges)]
    runs, fastest = 0, float("inf")
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(_triad_blocks, shares))
        end = clock() + seconds
        while not runs or clock() < end:
            start = clock()
            list(pool.map(_triad_blocks, shares))
            fastest = min(fastest, clock() - start)
            runs += 1
    if a[0] != 7.0 or a[-1] != 7.0:
        raise DeepbenchError("the triad gave a wrong result: this machine's numpy is broken")
    how = (
        f"measured: triad a = b + 3c, 3 x {elements * ELEMENT_BYTES >> 20} MiB float64, "
        f"24 bytes an element, numpy {np.__version__}, {threads} threads, best of {runs}"
    )
    return Figure(elements * TRIAD_BYTES / fastest, BYTE_RATE, how)


def triad_elements(cache_bytes: int, free_bytes: int) -> int:
    """Return the number of elements of each array: four times the last-level caches of all cores,
    at least 64 MiB and at most an eighth of the free memory."""
    wanted = max(64 * 2**20, 4 * cache_bytes)
    return max(BLOCK_ELEMENTS, min(wanted, free_bytes // 8) // ELEMENT_BYTES)


def cuda_triad(seconds: float, elements: int = 2**28, clock: Clock = time.perf_counter) -> Figure:
    """Return the bytes/s of the triad on an accelerator, float32, through torch, best of `seconds`.

    Raises Unsupported without torch, or without an accelerator that torch can use.
    """
    try:
        torch: Any = importlib.import_module("torch")
    except ImportError:
        raise Unsupported("torch is not installed") from None
    if not torch.cuda.is_available():
        raise Unsupported(f"torch {torch.__version__} sees no accelerator")
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
        f"measured: triad a = b + 3c, 3 x {elements * 4 >> 20} MiB float32, "
        f"12 bytes an element, torch {torch.__version__}, best of {runs}"
    )
    return Figure(elements * 12 / fastest, BYTE_RATE, how)


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


def _triad_blocks(blocks: Iterable[tuple[np.ndarray, ...]]) -> None:
    for a, b, c in blocks:
        np.multiply(c, 3.0, out=a)
        np.add(a, b, out=a)


@cache
def load_all(
    device: str, threads: int, frameworks: tuple[str, ...] = backends.NAMES
) -> tuple[list[Backend], list[Figure]]:
    """Return the installed frameworks that support a device, and for the others figures without a
    value, with the reasons."""
    loaded, missing = [], []
    for name in frameworks:
        try:
            backend = backends.load(name, device)
            if device == "cpu":
                backend.set_threads(threads)
            loaded.append(backend)
        except (ImportError, DeepbenchError, Unsupported) as reason:
            missing.append(_none(f"{name}: {reason}"))
    return loaded, missing


def _attempt(backend: Backend, precision: str, deadline: float, clock: Clock) -> Figure:
    if clock() > deadline:
        return _none(f"{backend.name}: out of time")
    try:
        return gemm_peak(backend, precision, BEST_OF_SECONDS, clock)
    except (DeepbenchError, Unsupported) as reason:
        return _none(f"{backend.name}: {reason}")


def _none(reason: str) -> Figure:
    return Figure(None, FLOP_RATE, f"not measured: {reason}")


def _prepare(backend: Backend, size: int, precision: str, clock: Clock) -> tuple[Kernel, float]:
    kernel = backend.build(*product(size, precision))
    _once(kernel, clock)  # the first run of a size also sets things up
    return kernel, _once(kernel, clock)


def _once(kernel: Kernel, clock: Clock) -> float:
    kernel.reset()
    kernel.synchronise()
    start = clock()
    kernel.run()
    kernel.synchronise()
    return clock() - start
