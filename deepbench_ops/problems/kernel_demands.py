"""Checks of the kernel that a command is asked for, before anything is started or installed."""

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.problems.problem import Problem
from deepbench_ops.problems.suggestions import unknown


def demand_precision(kind: type[Problem], precision: str) -> None:
    """Raise DeepbenchError unless a family is measured in this precision."""
    if precision not in kind.precisions:
        raise DeepbenchError(
            f"{kind.family} is not measured in {precision}: choose one of"
            f" {', '.join(kind.precisions)}"
        )


def demand_one_process(kind: type[Problem]) -> None:
    """Raise DeepbenchError for a family that runs between processes."""
    if kind.ranks:
        raise DeepbenchError(
            f"{kind.family} runs between processes: deepbench collective {kind.family} --elements N"
            " times it"
        )


def demand_operation(kind: type[Problem], operation: str) -> None:
    """Raise DeepbenchError with the operations of a family for one that it lacks."""
    known = (*kind.operations, *kind.uncompared)
    if operation not in known:
        raise unknown(f"{kind.family} operation", operation, known)
