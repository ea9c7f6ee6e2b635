"""Times that a machine cannot reach: faster than its peak or its memory bandwidth allow."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from deepbench_ops.machine.machine_profile import Figure, Profile
from deepbench_ops.problems.precision import TABLE, stored
from deepbench_ops.problems.problem import Problem
from deepbench_ops.problems.problem_ids import problem_of
from deepbench_ops.storage.result_key import ResultKey, unquoted

BEYOND = 1.3
"""Factor over its peak that a machine may seem to reach: GPUs clock above their data sheets, and a
peak may have been measured on a machine that was not completely free. Without fast algorithms the
highest rate in results/ is 1.25 times the peak (products on epyc-9005-2core)."""

BEYOND_CACHES = 50.0
"""Factor over the memory bandwidth that is impossible for operands that fit into a cache, of any
level. Two cores that each load 128 bytes a cycle from first-level caches at 4 GHz have 1 TB/s, 36
times the memory's 28 GB/s; numpy's additions in a second-level cache have 13 times. The highest
in results/ is 6.8 times, for a product of 2.1 MB on xeon-avx512-2core."""

BEYOND_MEMORY = 3.0
"""The same factor for operands of at least LARGER times the last cache. Reading is up to a third
faster than the triad that measures bandwidth, since the triad does not count the reads before a
store, and a part of the operands may be in the cache. The highest in results/ is 2.01 times."""

LARGER = 2.0

DISTURBED = 2.0
"""Further factor for peaks and bandwidths that were measured next to other load: a neighbour that
takes one of two cores halves them."""


NOT_MEASURED = Figure(None, "bytes/s", "not measured: no profile has it")


@dataclass(frozen=True)
class Roofs:
    """Known roofs of a device: peak FLOP/s by precision, memory bandwidth in bytes/s, and size of
    the last cache in bytes.

    Figures that were measured next to other load count twice (`DISTURBED`).
    """

    peaks: Mapping[str, float]
    bandwidth: float | None = None
    cache_bytes: float | None = None
    _least: dict[ResultKey, tuple[float, float]] = field(
        default_factory=dict, repr=False, compare=False
    )
    """Cache of the seconds below which a kernel beats the memory and the peak."""

    @classmethod
    def of(cls, known: Profile | None, device: str) -> "Roofs":
        """Return the roofs of a device in a profile; without a profile none are known."""
        if known is None:
            return cls({})
        peaks = known.peaks.get(device, {})
        bandwidth = known.bandwidth.get(device, NOT_MEASURED)
        caches = known.facts.get("last_level_cache_bytes", "") if device == "cpu" else ""
        return cls(
            {name: most for name, each in peaks.items() if (most := _highest(each)) is not None},
            _highest(bandwidth),
            (float(caches) if caches.isdecimal() else 0.0) or None,
        )

    def beaten(self, key: ResultKey, seconds: float) -> str:
        """Return the roof that a time beats, and by which factor, in words; "" if it beats none."""
        if key not in self._least:
            self._least[key] = self._least_by_memory(key), self._least_by_peak(key)
        by_memory, by_peak = self._least[key]
        if seconds < by_memory:
            return f"{times_bandwidth(key, seconds, self.bandwidth):.3g} times the bandwidth"
        if seconds < by_peak:
            return f"{times_peak(key, seconds, self.peaks):.3g} times the peak"
        return ""

    def _least_by_memory(self, key: ResultKey) -> float:
        moved = _moved(key) or 0.0
        if self.bandwidth is None:
            return 0.0
        in_memory = self.cache_bytes is not None and moved > LARGER * self.cache_bytes
        return moved / self.bandwidth / (BEYOND_MEMORY if in_memory else BEYOND_CACHES)

    def _least_by_peak(self, key: ResultKey) -> float:
        precision, flops = asked(key)
        peak = self.peaks.get(precision)
        return flops / fast_factor(key) / peak / BEYOND if peak else 0.0


def _highest(figure: Figure) -> float | None:
    """Return the value that a figure may have on a quiet machine; None without a value."""
    return figure.value and figure.value * (DISTURBED if figure.disturbed else 1)


def times_peak(key: ResultKey, seconds: float, peaks: Mapping[str, float]) -> float | None:
    """Return the FLOP/s of a kernel with this time, divided by the peak of its precision.

    peaks: FLOP/s by precision. None without a peak of that precision, and for kernels without
    FLOPs.
    """
    precision, flops = asked(key)
    peak = peaks.get(precision)
    return None if peak is None else flops / seconds / peak or None


def times_bandwidth(key: ResultKey, seconds: float, bandwidth: float | None) -> float | None:
    """Return the bytes/s of a kernel with this time, divided by the memory bandwidth.

    The bytes are the least that the kernel moves; for an all-reduce the vector once. None without a
    bandwidth, and at a precision whose number of bytes is unknown.
    """
    moved = _moved(key)
    return None if bandwidth is None or moved is None else moved / seconds / bandwidth or None


@cache
def asked(key: ResultKey) -> tuple[str, float]:
    """Return the precision whose peak limits a kernel, and the kernel's FLOPs."""
    problem, operation, precision = _named(key)
    return problem.multiplied(precision), problem.flops_of(operation)


@cache
def fast_factor(key: ResultKey) -> float:
    """Return the counted FLOPs divided by the fewest that any known algorithm needs."""
    problem, _, _ = _named(key)
    return problem.fast_factor


@cache
def _moved(key: ResultKey) -> float | None:
    problem, operation, precision = _named(key)
    return problem.bytes_of(stored(precision), operation) if stored(precision) in TABLE else None


def _named(key: ResultKey) -> tuple[Problem, str, str]:
    """Return the problem, operation and precision of a benchmark with its parameters."""
    benchmark, (problem_id, precision, *_) = unquoted(*key)
    family, _, kernel = benchmark.split(".")
    problem = problem_of(family, problem_id)
    return problem, kernel.removeprefix("kernel_"), precision
