"""Whole models: small twins, an estimate of memory, and the form of the reference.

Operands of models are in `models.batches`. The reference itself is the same network in float64,
which only a framework can compute; here is the code that is the same for all frameworks.
"""

from abc import ABC, abstractmethod
from dataclasses import replace
from functools import cached_property

import numpy as np

from deepbench_ops.backends.kernel import Index
from deepbench_ops.models import recorded_training_steps
from deepbench_ops.problems.model import Model, NetworkSize
from deepbench_ops.problems.problem import compared, computed
from deepbench_ops.run_conditions import EXECUTION

SMALL = {"whole": False, "batch": recorded_training_steps.BATCH, "threads": 1}

GRADIENTS, ENTRIES = 6, 64
"""Number of parameters whose gradients are compared in a training step's twin, and number of
entries of each gradient."""

STEP_ENTRIES = 1 + GRADIENTS * ENTRIES
"""Count of these: the loss, and the entries of all gradients."""

PROBE_FLOPS = 16e9
"""Floating-point operations of a forward pass that is long enough to show a rate."""

FLOAT_BYTES = 4
"""Bytes of a number. The CPU computes in float32 even where tensors have 16 bits."""

CHECKED_ITEMS = 4
"""Items in float32 that take as much memory as the two items of the check in float64."""

MARGIN, FIXED_BYTES = 1.5, 64e6
"""Factor on the counted bytes, for temporary copies of operations and reserves of the allocator,
and bytes that a framework takes once. bench/model_memory.py compares the estimate with the memory
that networks take."""


class ModelReference(ABC):
    """The true output of a model, computed at its first use."""

    @cached_property
    @abstractmethod
    def truth(self) -> tuple[np.ndarray, np.ndarray]:
        """(expected, allowed), two arrays of the same shape."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the compared output."""
        return self.truth[0].shape

    def everywhere(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed)."""
        return self.truth

    def at(self, index: Index) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed) at the entries of `index`."""
        expected, allowed = self.truth
        return expected[index], allowed[index]


class TrainingStepReference(ModelReference):
    """Reference of a training step: the loss, then ENTRIES entries of each of GRADIENTS gradients.

    All are in one array of shape (STEP_ENTRIES,).
    """

    def pooled(self, errors: np.ndarray) -> np.ndarray:
        """Return the errors with each error of a gradient replaced by that gradient's root mean
        square.

        A number that rounding moves across zero before a ReLU changes a few entries of a gradient
        completely, and the gradient as a whole little. A missing gradient, or one of another layer,
        is wrong as a whole.
        """
        of_gradients = errors[1:].reshape(GRADIENTS, ENTRIES)
        means = np.sqrt(np.square(of_gradients).mean(1))
        return np.concatenate([errors[:1], means.repeat(ENTRIES)])


def probe(problem: Model, times: int) -> Model:
    """Return the model with a smaller batch, about PROBE_FLOPS times `times` in a forward pass."""
    enough = times * max(1, round(PROBE_FLOPS / problem.network.flops))
    return replace(problem, batch=min(problem.batch, enough), threads=1)


def memory_needed(problem: Model, operation: str, execution: str = EXECUTION.usual) -> float:
    """Return an estimate of the bytes that preparing, running and checking a model takes.

    Inference takes the weights, a float64 copy of them during the check, and the activations that
    exist at the same time. A compiled or exported model has its own, packed copy of the weights.
    Where operations of a model are timed one by one, the operands of all of them are kept. For a
    training step see `step_numbers`.
    """
    size = problem.network
    numbers = 0 if compared(operation) else size.kept * problem.inputs
    if computed(operation) == "training_step":
        numbers += step_numbers(size, problem.inputs, size.parameters, size.trained)
    else:
        weights = 3 if execution == EXECUTION.usual else 5
        numbers += weights * size.parameters + size.live * max(problem.inputs, CHECKED_ITEMS)
    return FIXED_BYTES + MARGIN * FLOAT_BYTES * numbers


def step_numbers(size: NetworkSize, items: int, parameters: int, trained: int) -> int:
    """Return how many numbers of four bytes a training step keeps in memory.

    They are two copies of all parameters (current and initial values), gradients and optimiser
    state of the trained ones, and for each item of the batch: activations that the backward pass
    needs, activations that exist at the same time, and rows of sparse gradients with their initial
    values. items: size of the batch. parameters, trained: numbers of all and of trained parameters.
    """
    whole = 2 * parameters + (1 + size.states) * trained
    return whole + (size.kept + size.live + 2 * size.sparse) * items
