"""Peak rates of this machine: FLOP/s from large products.

With the memory bandwidth (`memory_bandwidth`) they are the roofs of its results. Each is the best
of many runs, with a note on how it was measured. None comes from a data sheet, whose rates the
machine may not reach.
"""

import time
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import cache

from deepbench_ops import backends
from deepbench_ops.backends import output_check
from deepbench_ops.backends.backend_interface import Backend
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.errors import DeepbenchError, Unsupported
from deepbench_ops.machine.machine_profile import Figure
from deepbench_ops.problems.gemm import Gemm
from deepbench_ops.problems.precision import PRECISIONS
from deepbench_ops.problems.problem import Problem
from deepbench_ops.problems.quantised_linear import QuantisedLinear

GPU = "cuda"
"""The device that `machine_facts.accelerators` lists."""

FP8 = "fp8"
"""The peak of 8-bit floating point (`Precision.product`), which is measured on GPUs only."""

FLOP_RATE = "FLOP/s"

SMALLEST, LARGEST = 512, 8192
"""Sizes of the first and of the largest product that is measured."""

LONGEST_SECONDS = 0.5
"""Time that the next product, doubled in each dimension, must not exceed."""

BEST_OF_SECONDS = 0.5
"""Seconds of repeated runs whose best counts."""

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
    first: Collection[str] = (),
) -> dict[str, Figure]:
    """Return the FLOP/s by precision on a device: the best of the installed ones of `frameworks`.

    deadline: reading of `clock` after which no precision is begun. One that was begun is measured
    with all frameworks, since the peak of some of them may be a hundredth of the machine's. A
    precision that no framework has, or that comes after the deadline, has a figure without a value,
    with the reason. first: precisions that are measured before the others.
    """
    loaded, missing = load_all(device, threads, frameworks)
    precisions = (*PRECISIONS, *((FP8,) if device == GPU else ()))
    peaks = {}
    for precision in sorted(precisions, key=lambda name: name not in first):
        late = clock() > deadline
        found = [
            _none(f"{each.name}: out of time") if late else _attempt(each, precision, clock)
            for each in loaded
        ]
        highest = best(found + missing)
        peaks[precision] = _on_threads(highest, threads) if device == "cpu" else highest
    return {precision: peaks[precision] for precision in precisions}


def _on_threads(figure: Figure, threads: int) -> Figure:
    """Return a figure that names the number of threads, if it has a value."""
    return (
        figure if figure.value is None else replace(figure, how=f"{figure.how}, {threads} threads")
    )


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


def _attempt(backend: Backend, precision: str, clock: Clock) -> Figure:
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
