"""What a time says against the machine's peak: where it is beyond, it is nobody's time."""

from collections.abc import Mapping

from deepbench_ops.problems.ids import problem_of
from deepbench_ops.problems.precision import MIXED

BEYOND = 1.3
"""How many times its peak a machine may seem to reach: cards clock above their data sheets, and a
peak was measured on a machine that was not quite free."""

Key = tuple[str, tuple[str, ...]]
"""A benchmark and its parameters, as asv spells them."""


def times_peak(key: Key, seconds: float, peaks: Mapping[str, float]) -> float | None:
    """Return how many times the peak a kernel would need; `peaks` are FLOP/s by precision.

    None without a peak of that precision, and for what counts no FLOPs.
    """
    benchmark, (problem_id, precision, *_) = key
    family, _, kernel = benchmark.split(".")
    multiplied = precision.strip("'").replace(MIXED, "float16")
    peak = peaks.get(multiplied)
    if peak is None:
        return None
    work = problem_of(family, problem_id.strip("'")).flops_of(kernel.removeprefix("kernel_"))
    return work / seconds / peak or None
