"""Assembly of a kernel from the operation that a framework's module has prepared.

A framework's module prepares an operation: calls with their operands bound, and functions that
return the outputs. This module adds all that is the same for every framework and family: label,
FLOPs, bytes, notes on the operands, references, and the widening of outputs.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

import numpy as np

from deepbench_ops.backends import families
from deepbench_ops.backends.kernel import Kernel, Output, Read, Reference, widened
from deepbench_ops.problems.problem import Problem, computed

Values = Callable[[], Any]
"""Function that returns an output in the framework's own type, with the axes of its reference."""


class Executor(Protocol):
    """Object that runs a kernel: a backend, or the ranks of a distributed operation."""

    @property
    def name(self) -> str:
        """Name of the framework or of the transport."""

    @property
    def device(self) -> str:
        """Name of the device, for the label."""

    @property
    def synchronise(self) -> Callable[[], object]:
        """Function that returns once everything enqueued has been done."""

    def read(self, output: Any, index: tuple[Any, ...]) -> np.ndarray:
        """Return entries of an output as an array on the host; the index () means all entries."""


@dataclass(frozen=True)
class Prepared:
    """One operation with its operands bound, as a framework's module prepares it."""

    run: Callable[[], object]
    """Do the operation once; see `Kernel.run`."""
    reset: Callable[[], object]
    """Restore the initial values of the output. An output without initial values is made unusable,
    so that no run passes its check with the output of an earlier run."""
    output: Values
    """The output, or the first of several."""
    notes: Mapping[str, str]
    """Route, layout, padding and so on. A note replaces the note on the operands of the same
    name."""
    further: Mapping[str, Values] = field(default_factory=dict)
    """Further outputs, by the names that the family gives them."""
    intermediate: Mapping[str, Values] = field(default_factory=dict)
    """Values from which a reference is computed and which are no output, by the family's names."""
    reference: Reference | None = None
    """Reference of the output, for families whose reference only the framework can compute."""
    synchronise: Callable[[], object] | None = None
    """See `Kernel.synchronise`; None for that of the executor."""
    outcome: Callable[[], Mapping[str, str]] = dict
    """See `Kernel.outcome`."""
    implementation: Callable[[], str] = str
    """See `Kernel.implementation`."""
    clock: Callable[[int], float] | None = None
    """See `Kernel.clock`."""


def assemble(
    executor: Executor,
    problem: Problem,
    precision: str,
    operation: str,
    drawn: Any,
    prepared: Prepared,
) -> Kernel:
    """Return the kernel of a prepared operation.

    drawn: the operands, from `inputs` of the family's module; None where `prepared` has the
    reference and all notes.
    """
    done = computed(operation)
    values = {"": prepared.output, **prepared.further}
    readers = {
        name: _reader(executor, each) for name, each in {**values, **prepared.intermediate}.items()
    }
    source = None
    if prepared.reference is not None:
        references: Mapping[str, Reference] = {"": prepared.reference}
    else:
        references = families.references(problem, drawn, precision, done, readers)
        source = families.reference_source(problem, drawn, precision, done)
    outputs = {
        name: Output(partial(readers[name], ()), readers[name], references[name]) for name in values
    }
    first = outputs.pop("")
    notes = {} if drawn is None else families.notes(problem, drawn, done)
    return Kernel(
        label=f"{executor.name} {executor.device} {precision} {operation} {problem.id}",
        run=prepared.run,
        synchronise=prepared.synchronise or executor.synchronise,
        reset=prepared.reset,
        result=first.result,
        peek=first.peek,
        reference=first.reference,
        further=outputs,
        source=source,
        flops=problem.flops_of(done),
        bytes=problem.bytes_of(precision, done),
        notes={**notes, **prepared.notes},
        outcome=prepared.outcome,
        implementation=prepared.implementation,
        clock=prepared.clock,
    )


def _reader(executor: Executor, values: Values) -> Read:
    """Return the function that reads entries of `values`, widened, as a new array."""
    return lambda index: widened(executor.read(values(), index))
