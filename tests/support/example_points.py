"""Points of kernels for tests of readers of results: training GEMMs, on one machine."""

from datetime import date

from deepbench_ops.analysis.kernel_lines import Line, lines
from deepbench_ops.analysis.points import Point
from deepbench_ops.machine.machine_profile import Figure, Profile
from deepbench_ops.problems import load
from deepbench_ops.releases.release_table import Release

GEMMS = [problem.id for problem in load("gemm", "training")]

PLAIN = {
    "machine": "box",
    "release": Release("torch", "2.13.0", date(2026, 7, 8)),
    "family": "gemm",
    "set": "training",
    "operation": "forward",
    "problem_id": GEMMS[0],
    "precision": "float32",
    "ranks": None,
    "device": "cpu",
    "cache": "warm",
    "layout": "published",
    "execution": "eager",
    "seconds": 1.0,
    "low": None,
    "high": None,
    "samples": 1,
}


def point(**said):
    """Return the plain point with these fields changed."""
    return Point(**{**PLAIN, **said})


RELEASES = [Release("torch", f"2.{n}.0", date(2026, 1 + n, 1)) for n in range(4)]


def lines_of(*rows: tuple[float | None, ...]) -> list[Line]:
    """Return lines of kernels, each given by its seconds at RELEASES; None where it has none."""
    found = [
        point(problem_id=GEMMS[kernel], release=release, seconds=seconds)
        for kernel, row in enumerate(rows)
        for release, seconds in zip(RELEASES, row, strict=True)
        if seconds is not None
    ]
    return lines(found, RELEASES, fewest=1)


def profile_with(peak: float | None, bandwidth: float | None) -> Profile:
    """Return a machine's profile with this peak at float32 (FLOP/s) and bandwidth (bytes/s)."""
    return Profile(
        "box",
        peaks={"cpu": {"float32": Figure(peak, "FLOP/s", "measured")}},
        bandwidth={"cpu": Figure(bandwidth, "bytes/s", "measured")},
    )
