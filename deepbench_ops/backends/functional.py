"""Frameworks whose functions return new arrays: what all of their kernels have in common.

A family's module makes a `Function`, operands bound; here it becomes a kernel that is compiled
once and whose newest output is what the check looks at. A first call is a kernel too: it compiles
each time it runs.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from deepbench_ops.backends import families
from deepbench_ops.backends.base import Backend, Builder
from deepbench_ops.backends.families.conv import refuse_unpublished
from deepbench_ops.backends.families.rnn_stepwise import witnesses
from deepbench_ops.backends.kernel import Index, Kernel
from deepbench_ops.backends.memory import available
from deepbench_ops.backends.newest import Newest
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.problem import FIRST_CALL, Problem, computed

Call = Callable[[], Any]


@dataclass(frozen=True)
class Function:
    """One operation with its operands bound, as a framework's users would write it."""

    compile: Callable[[], Call]
    """Make it anew, nothing remembered; a call of what comes back runs it and returns its output.
    The first such call may compile."""
    read: Callable[[Any], np.ndarray]
    """Return an output on the host, by the axes of the reference."""
    notes: Mapping[str, str]
    """Layout and route, to stand beside those on the operands."""
    own: Callable[[Any], np.ndarray] | None = None
    """Return what a recurrent layer came to on the way, where that is not its output: the
    gradients of the products."""


class Compiling(Backend):
    """A framework on the CPU that settles its threads when it first compiles anything."""

    compiles: ClassVar[bool] = True

    def __init__(self, device: str = "cpu") -> None:
        if device != "cpu":
            raise Unsupported(f"the {self.name} backend runs on the cpu only, not on {device}")
        self.device = device
        self._threads = len(os.sched_getaffinity(0))
        self._settled = False

    def memory_available(self) -> float:
        """Return what the system says may be taken without swapping."""
        return available()

    def threads(self) -> int:
        """Return the threads that kernels are, or will be, compiled for."""
        return self._threads

    def set_threads(self, count: int) -> None:
        """Compile for so many threads; Unsupported once something is compiled for another."""
        if self._settled and count != self._threads:
            raise Unsupported(
                f"{self.name} has compiled for {self._threads} threads, and keeps them:"
                f" for {count} start anew"
            )
        self._threads = count

    def settle_threads(self) -> int:
        """Return the number of threads, which can no longer be changed from now on."""
        self._settled = True
        return self._threads

    def wait(self, output: Any) -> None:
        """Return once an output is there: it is, when the call has returned."""


Maker = Callable[[Any, Any, Any, str, str], Function]
"""``maker(backend, problem, drawn, precision, operation)``: one per framework and family."""


def builder(make: Maker) -> Builder:
    """Return what builds kernels out of the functions that `make` makes."""
    return partial(_build, make)


def _build(
    make: Maker, backend: Any, problem: Problem, precision: str, operation: str, seed: int
) -> Kernel:
    family = families.of(problem)
    if problem.family == "conv":
        refuse_unpublished(problem, precision, operation)  # type: ignore[arg-type]
    drawn = family.inputs(problem, precision, seed)
    label = f"{backend.name} {backend.device} {precision} {operation} {problem.id}"
    first, operation = operation == FIRST_CALL, computed(operation)
    function = make(backend, problem, drawn, precision, operation)
    newest = Newest((lambda: function.compile()()) if first else function.compile())
    if not first:
        newest.run()  # a long call is its own warm-up, and must not be what compiles
    read = _remembering(function.read, newest)
    own = _remembering(function.own or function.read, newest)

    def entries(index: Index) -> np.ndarray:
        return widened(read()[index])

    def entries_and_gradients(index: Index) -> np.ndarray:
        steps, rows = witnesses(problem, len(index[0]))  # type: ignore[arg-type]
        return np.stack([entries(index), widened(own()[steps, rows, index[1]])], axis=1)

    more: dict[str, Any] = {}
    notes = drawn.notes
    if problem.family == "rnn":
        more["own"] = lambda index: widened(own()[index])
        notes = drawn.notes(operation)
    return Kernel(
        label=label,
        run=newest.run,
        synchronise=lambda: backend.wait(newest.output),
        reset=newest.reset,
        result=lambda: widened(read()),
        peek=entries if function.own is None else entries_and_gradients,
        reference=family.reference(problem, drawn, precision, operation, **more),
        flops=problem.flops_of(operation),
        bytes=problem.bytes_of(precision, operation),
        notes={**notes, "padding": "none", "output": "a new one in every call", **function.notes},
    )


def _remembering(read: Callable[[Any], np.ndarray], newest: Newest) -> Callable[[], np.ndarray]:
    """Return what reads the newest output, once however often it is asked."""
    known: list[Any] = [0, None]

    def again() -> np.ndarray:
        assert newest.output is not None, "asked for the output of a kernel that has not run"
        if known[0] != newest.calls:
            known[:] = newest.calls, read(newest.output)
        return np.asarray(known[1])

    return again


def widened(values: np.ndarray) -> np.ndarray:
    """Return an output as int64 or float64."""
    return values.astype(np.int64 if values.dtype.kind in "iu" else np.float64)
