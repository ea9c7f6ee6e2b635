"""Whole models: how far one is cut down for its check and for an estimate.

There are no operands here: what goes in is `models.batches`. Nor is there more of a judge than its
shape: the truth is the same network in float64, which only a framework can compute.
"""

from abc import ABC, abstractmethod
from dataclasses import replace
from functools import cached_property

import numpy as np

from deepbench_ops.backends.kernel import Index
from deepbench_ops.conditions import EXECUTION
from deepbench_ops.models import twin_steps
from deepbench_ops.problems.model import Model, NetworkSize
from deepbench_ops.problems.problem import compared, computed

SMALL = {"whole": False, "batch": twin_steps.BATCH, "threads": 1}

GRADIENTS, ENTRIES = 6, 64
"""Parameters of a training step's twin whose gradients are compared, and entries of each."""

PROBE_FLOPS = 16e9
"""Floating-point operations of a forward pass that are enough to show a rate."""

FLOAT_BYTES = 4
"""Bytes of a number, which the CPU computes in float32 on the way even of 16 bits."""

JUDGED = 4
"""Items whose numbers as many bytes hold as those of the two that are judged in float64."""

MARGIN, FIXED_BYTES = 1.5, 64e6
"""Safety over what is counted: what operations take for themselves (a layout of their own), what
the allocator keeps back; and what a framework takes once. bench/model_memory.py compares it
with the memory that networks really take."""


class ModelJudge(ABC):
    """The true output, computed when it is first asked for."""

    @cached_property
    @abstractmethod
    def truth(self) -> tuple[np.ndarray, np.ndarray]:
        """(expected, allowed)."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of what is compared."""
        return self.truth[0].shape

    def everywhere(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed)."""
        return self.truth

    def at(self, index: Index) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed) at the entries of `index`."""
        expected, allowed = self.truth
        return expected[index], allowed[index]


class StepErrors(ModelJudge):
    """Judge of a training step: the loss, and then the gradients, ENTRIES entries of each."""

    def pooled(self, errors: np.ndarray) -> np.ndarray:
        """Return the errors with those of a gradient's entries replaced by their root mean square.

        Rounding that moves a number across a ReLU's corner changes a few entries altogether, and
        the gradient as a whole by little; one that is missing, or of another layer, is off as a
        whole.
        """
        of_gradients = errors[1:].reshape(GRADIENTS, ENTRIES)
        means = np.sqrt(np.square(of_gradients).mean(1))
        return np.concatenate([errors[:1], means.repeat(ENTRIES)])


def probe(problem: Model, times: int) -> Model:
    """Return the network itself with as few items as show its rate, or so many times as many."""
    enough = times * max(1, round(PROBE_FLOPS / problem.network.flops))
    return replace(problem, batch=min(problem.batch, enough), threads=1)


def memory_needed(problem: Model, operation: str, execution: str = EXECUTION.usual) -> float:
    """Return about how many bytes preparing, running and checking a model takes, with the margin.

    An inference has the weights, once more in float64 while it is judged, and the numbers that live
    at once; compiled or exported, the runtime has weights of its own, and packs them. Where its
    operations are apart, their operands stay. A training step is `step_numbers`.
    """
    size = problem.network
    numbers = 0 if compared(operation) else size.kept * problem.inputs
    if computed(operation) == "training_step":
        numbers += step_numbers(size, problem.inputs, size.parameters, size.trained)
    else:
        weights = 3 if execution == EXECUTION.usual else 5
        numbers += weights * size.parameters + size.live * max(problem.inputs, JUDGED)
    return FIXED_BYTES + MARGIN * FLOAT_BYTES * numbers


def step_numbers(size: NetworkSize, items: int, parameters: int, trained: int) -> int:
    """Return how many numbers of four bytes are there in a training step of so many parameters.

    Weights are there twice, as they are and as they were at first, with gradients and the
    optimiser's state; of every item what the backward pass needs, what lives at once on its way
    there, and of sparse gradients the rows, which are put back as they were.
    """
    whole = 2 * parameters + (1 + size.states) * trained
    return whole + (size.kept + size.live + 2 * size.sparse) * items
