"""Versions of the benchmarks of kernels, which set rounds of other measured work apart."""

from functools import cache

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.measure.kernel_identity import KernelIdentity
from deepbench_ops.problems.problem import Problem
from deepbench_ops.problems.problem_ids import problem_of

FIRST = "1"
"""The version of kernels that are not known here, such as those of a family of others."""


@cache
def now(task: KernelIdentity) -> str:
    """Return the version by which a kernel is measured now."""
    problem = _problem(task)
    return problem.version_of(task.operation) if problem else FIRST


@cache
def unrecorded(task: KernelIdentity) -> str:
    """Return the version of those rounds of a kernel that were measured before rounds had it."""
    problem = _problem(task)
    return problem.unrecorded_version_of(task.operation) if problem else FIRST


def _problem(task: KernelIdentity) -> Problem | None:
    try:
        return problem_of(task.family, task.problem)
    except DeepbenchError:
        return None
