"""Highest rate of a kernel: the roofline of Williams, Waterman and Patterson (2009).

A kernel runs at the rate of the arithmetic or of the memory, whichever ends first:
min(peak FLOP/s, bandwidth in bytes/s x FLOP per byte). Bytes are those that cannot be avoided, so
a kernel whose operands stay in a cache may well lie above. So may a convolution by Winograd or FFT,
which is credited with the FLOPs of the direct way, and whatever is faster than the one product by
which a peak was measured.
"""

from functools import cache

from deepbench_ops.analysis.points import Point
from deepbench_ops.machine.machine_profile import Figure, Profile
from deepbench_ops.problems.precision import TABLE, stored
from deepbench_ops.problems.problem_ids import problem_of


def bytes_moved(point: Point) -> float | None:
    """Return the bytes that a kernel moves at least; None where its precision has no known size."""
    return _moved(point.family, point.problem_id, point.operation, point.precision)


@cache
def _moved(family: str, problem_id: str, operation: str, precision: str) -> float | None:
    if stored(precision) not in TABLE:
        return None
    return problem_of(family, problem_id).bytes_of(stored(precision), operation)


@cache
def _multiplied(family: str, problem_id: str, precision: str) -> str:
    return problem_of(family, problem_id).multiplied(precision)


def intensity(point: Point) -> float | None:
    """Return the FLOP per byte of a kernel; None without FLOPs or a known size of its numbers."""
    traffic = bytes_moved(point)
    return point.flops / traffic if point.flops and traffic else None


def peak(profile: Profile | None, point: Point) -> Figure | None:
    """Return the peak FLOP/s of the precision in which a kernel multiplies; None if unknown."""
    if profile is None:
        return None
    precision = _multiplied(point.family, point.problem_id, point.precision)
    figure = profile.peaks.get(point.device, {}).get(precision)
    return figure if figure is not None and figure.value else None


def roof(profile: Profile | None, point: Point) -> float | None:
    """Return the highest FLOP/s of a kernel whose operands come from memory.

    None without a profile, without a peak or bandwidth in it, and for kernels without FLOPs.
    """
    flops, traffic = point.flops, bytes_moved(point)
    if profile is None or not flops or not traffic:
        return None
    arithmetic, memory = peak(profile, point), profile.bandwidth.get(point.device)
    if arithmetic is None or not arithmetic.value or memory is None or not memory.value:
        return None
    return min(arithmetic.value, memory.value * flops / traffic)


def share(profile: Profile | None, point: Point) -> float | None:
    """Return the share of its roof that a kernel reaches, None where it has no roof."""
    highest = roof(profile, point)
    return point.rate / highest if highest else None
