"""Breakdown of a model's step: the share of each operation, its time alone, and the overhead."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

import torch

from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.torch_backend import operator_trace
from deepbench_ops.backends.torch_backend.operator_trace import Operation
from deepbench_ops.measure import operator_shares
from deepbench_ops.measure.sampling import Policy, measure

WHOLE_STEP = Policy(budget_seconds=1.0, target=0.01, min_samples=6, wait_seconds=0.0)
SINGLE_OPERATION = Policy(
    budget_seconds=0.03,
    twice_seconds=0.0,
    warmup_seconds=0.02,
    target=0.01,
    min_samples=3,
    wait_seconds=0.0,
)

PROFILED_STEPS = 3
"""Steps under the profiler, whose median counts: the first call after it starts is slow."""


@dataclass(frozen=True)
class OperationShare:
    """One operation of a step.

    inside: seconds of all its calls in a profiled step. alone: seconds of one call by itself, None
    where it cannot be repeated.
    """

    operation: Operation
    inside: float
    alone: float | None


LONGEST_ALONE = 1.5
"""Time of all operations alone over that of the step from which the machine was disturbed."""


@dataclass(frozen=True)
class StepBreakdown:
    """A step and its operations. whole: seconds of a step. parts: the longest first."""

    whole: float
    parts: tuple[OperationShare, ...]

    @property
    def alone(self) -> float:
        """Seconds of all operations of a step, each measured alone."""
        return sum(part.operation.calls * (part.alone or 0.0) for part in self.parts)

    @property
    def overhead(self) -> float | None:
        """Share of the step beyond its operations, each measured alone: the framework's own time.

        A little below 0 where operations run faster one after the other than alone: the output of
        one is still in the cache when the next reads it. None where they took over `LONGEST_ALONE`
        times the step alone, which only a disturbed machine does.
        """
        if self.alone > LONGEST_ALONE * self.whole:
            return None
        return 1 - self.alone / self.whole

    def share(self, part: OperationShare) -> float:
        """Return the seconds of its calls under the profiler over those of a step without.

        The sum of all shares is below 1, or above where the profiler prolongs many short
        operations.
        """
        return part.inside / self.whole


def breakdown(kernel: Kernel, device: str) -> StepBreakdown:
    """Return the breakdown of a model's step, from its timing, a profile and single operations."""
    whole = median(measure(kernel, None, WHOLE_STEP).seconds)
    kernel.reset()
    found = operator_trace.operations(kernel.run)
    inside = [median(each) for each in zip(*_profiled(kernel, found, device), strict=True)]
    parts = [
        OperationShare(operation, seconds, _alone(operation, kernel.synchronise))
        for operation, seconds in zip(found, inside, strict=True)
    ]
    return StepBreakdown(whole, tuple(sorted(parts, key=lambda part: -part.inside)))


def _profiled(kernel: Kernel, found: Sequence[Operation], device: str) -> Iterator[Sequence[float]]:
    """Yield the seconds of each operation in several steps under the profiler."""
    for _ in range(PROFILED_STEPS):
        kernel.reset()
        yield operator_shares.seconds(kernel.run, found, device)


@dataclass(frozen=True)
class _SingleOperation:
    """An operation in the form that `measure` times."""

    run: Callable[[], object]
    synchronise: Callable[[], object]
    clock: None = None

    def reset(self) -> None:
        """Do nothing: it changes only arrays of its own."""


def _alone(operation: Operation, synchronise: Callable[[], object]) -> float | None:
    with torch.inference_mode():
        if not operation.repeats:
            return None
        return median(
            measure(
                _SingleOperation(operation.again(), synchronise), None, SINGLE_OPERATION
            ).seconds
        )
