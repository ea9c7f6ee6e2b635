"""What a time says against peak and bandwidth: where it is beyond, it is nobody's time."""

from collections.abc import Mapping
from functools import cache

from deepbench_ops.problems.ids import problem_of
from deepbench_ops.problems.precision import multiplied, stored

BEYOND = 1.3
"""How many times its peak a machine may seem to reach: cards clock above their data sheets, and a
peak was measured on a machine that was not quite free."""

Key = tuple[str, tuple[str, ...]]
"""A benchmark and its parameters, as asv spells them."""


def times_peak(key: Key, seconds: float, peaks: Mapping[str, float]) -> float | None:
    """Return how many times the peak a kernel would need; `peaks` are FLOP/s by precision.

    None without a peak of that precision, and for what counts no FLOPs.
    """
    precision, flops = asked(key)
    peak = peaks.get(precision)
    return None if peak is None else flops / seconds / peak or None


@cache
def asked(key: Key) -> tuple[str, float]:
    """Return the precision whose peak a kernel may reach, and its FLOPs."""
    benchmark, (problem_id, precision, *_) = key
    family, _, kernel = benchmark.split(".")
    problem = problem_of(family, problem_id.strip("'"))
    return multiplied(precision.strip("'")), problem.flops_of(kernel.removeprefix("kernel_"))


def times_bandwidth(key: Key, seconds: float, bandwidth: float | None) -> float | None:
    """Return how many times the memory's bandwidth, in bytes/s, a kernel would need.

    It counts what no pass can avoid moving, of an all-reduce the vector once. None without a
    bandwidth.
    """
    if bandwidth is None:
        return None
    benchmark, (problem_id, precision, *_) = key
    family, _, kernel = benchmark.split(".")
    problem = problem_of(family, problem_id.strip("'"))
    moved = problem.bytes_of(stored(precision.strip("'")), kernel.removeprefix("kernel_"))
    return moved / seconds / bandwidth or None
