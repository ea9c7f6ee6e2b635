"""Whole models: how far one is cut down for its check and for an estimate.

There are no operands here: what goes in is `models.data`. Nor is there more of a judge than its
shape: the truth is the same network in float64, which only a framework can compute.
"""

from abc import ABC, abstractmethod
from dataclasses import replace
from functools import cached_property

import numpy as np

from deepbench_ops.backends.kernel import Index
from deepbench_ops.models import twins
from deepbench_ops.problems.model import Model
from deepbench_ops.problems.problem import compared, computed

SMALL = {"whole": False, "batch": twins.BATCH, "threads": 1}

GRADIENTS, ENTRIES = 6, 8
"""Parameters of a training step's twin whose gradients are compared, and entries of each."""

PROBE_FLOPS = 16e9
"""Floating-point operations of a forward pass that are enough to show a rate."""


class Judge(ABC):
    """What an output must be, computed when it is first asked for."""

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


def probe(problem: Model) -> Model:
    """Return the network itself with as few items as show its rate."""
    enough = max(1, round(PROBE_FLOPS / problem.network.flops))
    return replace(problem, batch=min(problem.batch, enough), threads=1)


def memory_needed(problem: Model, operation: str) -> float:
    """Return about how many bytes preparing, running and checking a model takes.

    Weights are there as drawn and as used, and once more in float64 while an inference is judged.
    A training step has them as they were at first, their gradients and what the optimiser
    remembers, and keeps what the backward pass needs. Where its operations are apart, their
    operands stay, which are gradients of what it keeps as well.
    """
    size = problem.network
    if computed(operation) == "training_step":
        weights = 4 * size.parameters + 4 * size.dense * (2 + size.states)
        kept = 4.0 * size.kept * problem.items * (1 if compared(operation) else 2)
        return 4.0 * size.parameters + weights + kept
    return (4 + 4 + 8) * size.parameters + 4.0 * size.kept * problem.items
