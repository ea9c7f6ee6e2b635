"""Breakdown of a model's step: shares of operations and of layers, and the overhead."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

import torch

from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.torch_backend import operator_trace
from deepbench_ops.backends.torch_backend.layer_trace import LayerCall, LayerTrace
from deepbench_ops.backends.torch_backend.operator_trace import Operation
from deepbench_ops.measure import operator_shares
from deepbench_ops.measure.kernel_sampling import Policy, measure
from deepbench_ops.problems.problem import Problem

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

    inside: seconds of all its calls in a profiled step, None where the profile does not show each
    of them. alone: seconds of one call by itself, None where it cannot be repeated.
    """

    operation: Operation
    inside: float | None
    alone: float | None


@dataclass(frozen=True)
class FamilyShare:
    """Calls of layers that are one problem, in one direction; or calls outside of all layers.

    problem: None outside of layers. name: the direction, or the name of the operation outside.
    operations: those of the problem's family that one call consists of. inside: seconds of all
    calls in a profiled step, None where the profile does not show each call that moves data.
    """

    problem: Problem | None
    name: str
    operations: tuple[str, ...]
    calls: int
    inside: float | None

    @property
    def inside_each(self) -> float | None:
        """Seconds of one call in a profiled step, the mean."""
        return None if self.inside is None else self.inside / self.calls


LONGEST_ALONE = 1.5
"""Time of all operations alone over that of the step from which the machine was disturbed."""


@dataclass(frozen=True)
class StepBreakdown:
    """A step, its operations and its layers.

    whole: seconds of a step. parts: operations, the longest first. families: layers, and operations
    outside of them, the longest first; () where they were not asked for.
    """

    whole: float
    parts: tuple[OperationShare, ...]
    families: tuple[FamilyShare, ...] = ()

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

    def share(self, part: OperationShare | FamilyShare) -> float | None:
        """Return the seconds of its calls under the profiler over those of a step without.

        The sum of all shares is below 1, or above where the profiler prolongs many short
        operations.
        """
        return None if part.inside is None else part.inside / self.whole


Profiled = Sequence[Sequence[operator_shares.Times]]
"""Seconds of each call of each operation, of several steps under the profiler."""


def breakdown(kernel: Kernel, device: str, by_family: bool = False) -> StepBreakdown:
    """Return the breakdown of a model's step, from its timing, a profile and single operations.

    by_family: with its layers. Raises Unsupported for those of a training step before torch 2.0.
    """
    whole = median(measure(kernel, None, WHOLE_STEP).seconds)
    kernel.reset()
    if by_family:
        with LayerTrace() as layers:
            found = operator_trace.operations(kernel.run, lambda: layers.current)
    else:
        found = operator_trace.operations(kernel.run)
    profiled = [_profiled(kernel, found, device) for _ in range(PROFILED_STEPS)]
    parts = [
        OperationShare(
            operation,
            _median([_sum(step[place]) for step in profiled]),
            _alone(operation, kernel.synchronise),
        )
        for place, operation in enumerate(found)
    ]
    families = family_shares(found, profiled) if by_family else []
    return StepBreakdown(
        whole,
        tuple(sorted(parts, key=_longest_first)),
        tuple(sorted(families, key=_longest_first)),
    )


def family_shares(found: Sequence[Operation], profiled: Profiled) -> list[FamilyShare]:
    """Return the calls of a step by layer; `found` knows which layer made each."""
    groups: dict[tuple[Problem | None, str, tuple[str, ...]], _Group] = {}
    for place, operation in enumerate(found):
        for turn, layer in enumerate(operation.layers):
            key: tuple[Problem | None, str, tuple[str, ...]] = (None, operation.name, ())
            if isinstance(layer, LayerCall):
                key = (layer.problem, layer.direction, layer.operations)
            group = groups.setdefault(key, _Group(profiled))
            group.calls.add(layer or (place, turn))
            for step, times in enumerate(profiled):
                taken = times[place][turn]
                if taken is not None or operation.bytes:  # a view takes no time
                    group.seconds[step].append(taken)
    return [
        FamilyShare(problem, name, operations, len(group.calls), group.inside)
        for (problem, name, operations), group in groups.items()
    ]


class _Group:
    """Calls that are counted together, and their seconds in each profiled step."""

    def __init__(self, profiled: Profiled) -> None:
        self.calls: set[object] = set()
        self.seconds: list[list[float | None]] = [[] for _ in profiled]

    @property
    def inside(self) -> float | None:
        """Seconds of all calls of a step, None where those of one are not known."""
        return _median([_sum(step) for step in self.seconds])


def _sum(times: operator_shares.Times) -> float | None:
    known = [taken for taken in times if taken is not None]
    return sum(known) if len(known) == len(times) else None


def _median(sums: Sequence[float | None]) -> float | None:
    """Return the median of those that are known."""
    known = [each for each in sums if each is not None]
    return median(known) if known else None


def _longest_first(part: OperationShare | FamilyShare) -> float:
    return -(part.inside or 0.0)


def _profiled(
    kernel: Kernel, found: Sequence[Operation], device: str
) -> Sequence[operator_shares.Times]:
    """Return the seconds of each call of each operation in a step under the profiler."""
    kernel.reset()
    return operator_shares.seconds(kernel.run, found, device)


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
