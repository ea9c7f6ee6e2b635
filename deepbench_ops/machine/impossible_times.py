"""Times that a machine cannot reach: faster than its peak, or than its memory, allows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from deepbench_ops.machine.profile import Profile
from deepbench_ops.problems.ids import problem_of
from deepbench_ops.problems.precision import TABLE, multiplied, stored
from deepbench_ops.problems.problem import Problem
from deepbench_ops.storage.result_key import ResultKey, unquoted

BEYOND = 1.3
"""Factor over its peak that a machine may seem to reach: cards clock above their data sheets, and a
peak was measured on a machine that was not quite free. Without fast algorithms the highest of
results/ is 1.25 times (products on epyc-9005-2core)."""

BEYOND_CACHES = 50.0
"""Factor over the memory's bandwidth that is impossible for operands that fit in a cache. The
highest of results/ is 6.8 times, of a product of 2.1 MB on xeon-avx512-2core."""

BEYOND_MEMORY = 3.0
"""The same of operands that are LARGER times the last cache: reading is up to a third faster than
the triad that bandwidth is measured by, whose count leaves out what a store reads first, and a part
of the operands may still lie in the cache. The highest of results/ is 2.1 times."""

LARGER = 2.0


@dataclass(frozen=True)
class Roofs:
    """Peak FLOP/s by precision, bytes/s of the memory and bytes of the last cache of a device,
    where they are known."""

    peaks: Mapping[str, float]
    bandwidth: float | None = None
    cache_bytes: float | None = None
    _least: dict[ResultKey, tuple[float, float]] = field(
        default_factory=dict, repr=False, compare=False
    )
    """Seconds below which a kernel beats the memory and the peak, of those asked for so far."""

    @classmethod
    def of(cls, known: Profile | None, device: str) -> "Roofs":
        """Return those of a device in a profile; without a profile none are known."""
        if known is None:
            return cls({})
        peaks = known.peaks.get(device, {})
        bandwidth = known.bandwidth.get(device)
        cache_bytes = known.facts.get("last_level_cache_bytes", "") if device == "cpu" else ""
        return cls(
            {name: each.value for name, each in peaks.items() if each.value is not None},
            bandwidth.value if bandwidth is not None else None,
            float(cache_bytes) if cache_bytes.isdigit() and int(cache_bytes) else None,
        )

    def beaten(self, key: ResultKey, seconds: float) -> str:
        """Return which roof a time beats, and by how much; "" where it beats none."""
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


def times_peak(key: ResultKey, seconds: float, peaks: Mapping[str, float]) -> float | None:
    """Return how many times the peak a kernel would need; `peaks` are FLOP/s by precision.

    None without a peak of that precision, and for kernels without FLOPs.
    """
    precision, flops = asked(key)
    peak = peaks.get(precision)
    return None if peak is None else flops / seconds / peak or None


def times_bandwidth(key: ResultKey, seconds: float, bandwidth: float | None) -> float | None:
    """Return how many times the memory's bandwidth, in bytes/s, a kernel would need.

    It counts the bytes that no pass can avoid moving, of an all-reduce the vector once. None
    without a bandwidth, and at a precision of unknown weight.
    """
    moved = _moved(key)
    return None if bandwidth is None or moved is None else moved / seconds / bandwidth or None


@cache
def asked(key: ResultKey) -> tuple[str, float]:
    """Return the precision whose peak a kernel may reach, and its FLOPs."""
    problem, operation, precision = _named(key)
    return multiplied(precision), problem.flops_of(operation)


@cache
def fast_factor(key: ResultKey) -> float:
    """Return the FLOPs that are counted over the fewest that an algorithm needs."""
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
