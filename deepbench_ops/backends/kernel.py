"""A kernel: one operation that is ready to run, with all that is needed to time and check it.

Kernels of all families and frameworks have the same fields, so a new family needs no change in the
code that measures and checks.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np

Index = tuple[np.ndarray, ...]

Read = Callable[[tuple[Any, ...]], np.ndarray]
"""Function from an index to these entries of an output, as a new float64 or int64 array. The index
is a tuple of integer arrays or slices, as numpy has it; () means all entries."""


def widened(values: np.ndarray) -> np.ndarray:
    """Return a copy in the type in which outputs are compared: int64 of integers, else float64."""
    return values.astype(np.int64 if values.dtype.kind in "iu" else np.float64)


class Reference(Protocol):
    """The true output of one run from the initial state, with the error allowed at each entry."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the output."""

    def everywhere(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed): arrays of `shape`, float64 or int64."""

    def at(self, index: Index) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed) at the entries `index`, one integer array per axis."""


@runtime_checkable
class GroupedErrors(Protocol):
    """A reference that allows an error for groups of entries, not for each entry alone."""

    def pooled(self, errors: np.ndarray) -> np.ndarray:
        """Return the errors of all entries, each replaced by the error of its group."""


@runtime_checkable
class CountedTerms(Protocol):
    """A reference that computes more products for one entry than the operation itself does."""

    @property
    def entry_terms(self) -> int:
        """Number of products that one entry takes."""


@dataclass(frozen=True)
class Output:
    """One output of an operation: functions that read it, and its reference."""

    result: Callable[[], np.ndarray]
    """Return a copy of the whole output on the host, as float64 or int64."""
    peek: Callable[[Index], np.ndarray]
    """Return a few entries of the output, as float64 or int64, without a copy of the whole."""
    reference: Reference
    """The true output after `reset` and one `run`."""


@dataclass(frozen=True)
class ReferenceSource:
    """The facts from which the references of a kernel are computed."""

    name: tuple[str, ...]
    """Family, problem, precision, and the operation: one name for all with the same references."""
    operands: Callable[[], Mapping[str, np.ndarray]]
    """Return all operands of the operation by name, as they are when it is called."""


@dataclass(frozen=True)
class Kernel:
    """One prepared operation. `run` is the framework's own call with its operands bound.

    `result`, `peek` and `reference` belong to the output, or to the first of several outputs.
    """

    label: str
    """Name for messages: 'torch cpu float32 forward m35_n700_k2048_NN'."""
    run: Callable[[], object]
    """Do the operation once. On an accelerator this may only enqueue it."""
    synchronise: Callable[[], object]
    """Return once everything enqueued has been done."""
    reset: Callable[[], object]
    """Restore the output to its initial values; for use outside the timed region."""
    result: Callable[[], np.ndarray]
    """Return a copy of the whole output on the host, as float64 or int64."""
    peek: Callable[[Index], np.ndarray]
    """Return a few entries of the output, as float64 or int64, without a copy of the whole."""
    reference: Reference
    """The true output after `reset` and one `run`."""
    flops: float
    """Floating-point (or integer) operations of one run, padding not counted."""
    bytes: float
    """Bytes of operands read and written at least once by one run, padding not counted."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """Notes for the record: inputs, layout, padding, route."""
    outcome: Callable[[], Mapping[str, str]] = dict
    """Return notes on the output of a run; called after it, outside the timed region."""
    implementation: Callable[[], str] = str
    """Return the name of the library code that computes, such as 'openblas Zen'; "" if unknown.

    Called after the last timed call, since it may run the operation once more."""
    clock: Callable[[int], float] | None = None
    """Clock of an operation on several processes or threads: reset, do the operation the given
    number of times, and return the seconds per call, of the slowest process or the mean of the
    threads. None where a single process times the operation."""
    further: Mapping[str, Output] = field(default_factory=dict)
    """Further outputs by name, of operations that have several, such as gradients of each input."""

    source: ReferenceSource | None = None
    """Source of all references; None where it is unknown, or includes the kernel's own outputs."""

    @property
    def outputs(self) -> dict[str, Output]:
        """Every output by name, the first under the name ""."""
        return {"": Output(self.result, self.peek, self.reference), **self.further}
