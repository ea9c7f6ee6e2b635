"""A kernel: one operation ready to run, and everything needed to time and to check it.

The same slots serve every family, so that measuring and checking know nothing about GEMMs or
frameworks: adding a family never touches them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np

Index = tuple[np.ndarray, ...]

Read = Callable[[tuple[Any, ...]], np.ndarray]
"""Function that returns entries of an output as a new float64 or int64 array: indexed like an
array, by arrays of integers or slices; all entries for the index ()."""


def widened(values: np.ndarray) -> np.ndarray:
    """Return a copy in the type in which outputs are compared: int64 for integers, else float64."""
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
class Pooling(Protocol):
    """A reference whose allowed errors are of groups of entries, not of each alone."""

    def pooled(self, errors: np.ndarray) -> np.ndarray:
        """Return the errors of all entries, each replaced by that of its group."""


@runtime_checkable
class Costly(Protocol):
    """A reference that takes more for an entry than its part of the operation's products."""

    @property
    def entry_terms(self) -> int:
        """Products for an entry."""


@dataclass(frozen=True)
class Output:
    """One output of an operation: functions that read it, and its reference."""

    result: Callable[[], np.ndarray]
    """All of it, as float64 or int64; copies, and moves it off the device."""
    peek: Callable[[Index], np.ndarray]
    """A few of its entries, as float64 or int64, without moving all of it."""
    reference: Reference
    """The true output after `reset` and one `run`."""


@dataclass(frozen=True)
class Kernel:
    """One prepared operation. `run` is the framework's own call with its operands bound.

    result, peek and reference are those of the output, or of the first of several.
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
    """The whole output, as float64 or int64; copies, and moves it off the device."""
    peek: Callable[[Index], np.ndarray]
    """The output at a few entries, as float64 or int64, without moving all of it."""
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
    """Return which library code computes, such as 'openblas Zen'; "" where that is not known.

    Called after the last timed call, since it may run the operation once more."""
    clock: Callable[[int], float] | None = None
    """Clock of an operation spread over processes or threads: reset, do the operation that many
    times, return the seconds per call, of the slowest process or of the mean thread. None where one
    process times it."""
    further: Mapping[str, Output] = field(default_factory=dict)
    """Further outputs by name, of operations that have several, such as gradients of each input."""

    @property
    def outputs(self) -> dict[str, Output]:
        """Every output by name, the first under the name ""."""
        return {"": Output(self.result, self.peek, self.reference), **self.further}
