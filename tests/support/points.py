"""A point of a kernel for tests of what reads results: a training GEMM, but for what is said."""

from datetime import date

from deepbench_ops.analysis.points import Point
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
