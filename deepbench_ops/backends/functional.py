"""Frameworks whose functions return new arrays: what all of their kernels have in common.

A family's module makes a `Function`, operands bound; here it becomes a kernel that is compiled
once and whose newest output is what the check looks at. A first call is a kernel too: it compiles
each time it runs.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import ModuleType
from typing import Any, ClassVar

import numpy as np

from deepbench_ops.backends import families
from deepbench_ops.backends.assembly import Prepared, Values, assemble
from deepbench_ops.backends.base import Backend, Builder
from deepbench_ops.backends.free_memory import available
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.latest_output import LatestOutput
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.problem import FIRST_CALL, Problem, computed

Call = Callable[[], Any]
"""A compiled call. It may have an attribute `implementation`, see `named`."""


def named(call: Any, implementation: Callable[[], str]) -> Call:
    """Return the call itself, with the function that returns which implementation it runs."""
    call.implementation = implementation
    return call  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Function:
    """One operation with its operands bound, as a framework's users would write it."""

    compile: Callable[[], Call]
    """Make the function again, with empty caches, and return it. Its first call may compile."""
    read: Callable[[Any], np.ndarray]
    """Return an output on the host, by the axes of the reference."""
    notes: Mapping[str, str]
    """Notes on layout and route, in addition to those on the operands."""
    further: Mapping[str, Callable[[Any], np.ndarray]] = field(default_factory=dict)
    """Functions that return further outputs on the host, by the family's names for them."""
    intermediate: Mapping[str, Values] = field(default_factory=dict)
    """See `Prepared.intermediate`."""


class CpuBackend(Backend):
    """A framework on the CPU whose functions return new arrays; a first kernel settles threads."""

    compiles: ClassVar[bool] = True
    lacking: ClassVar[Mapping[str, str]] = {}
    """Precisions that it has nothing in, and why."""
    nchw_alone: ClassVar[str] = ""
    """Why it convolves in the published layout only, "" where it does not."""

    def __init__(self, device: str = "cpu") -> None:
        super().__init__(device)
        self._threads = len(os.sched_getaffinity(0))
        self._settled = False

    @classmethod
    def builder_in(cls, module: ModuleType) -> Builder:
        """Return the builder of kernels in a module of a family."""
        return builder_in(module)

    def build(
        self, problem: Problem, precision: str, operation: str = "forward", seed: int = 0
    ) -> Kernel:
        """Prepare a kernel; Unsupported for a precision or layout that it does not have."""
        if precision in self.lacking:
            raise Unsupported(self.lacking[precision])
        if self.nchw_alone and self.layout in problem.layouts[1:]:
            raise Unsupported(self.nchw_alone)
        return super().build(problem, precision, operation, seed)

    def memory_available(self) -> float:
        """Return what the system says may be taken without swapping."""
        return available()

    def threads(self) -> int:
        """Return the threads that kernels have, or will have."""
        return self._threads

    def set_threads(self, count: int) -> None:
        """Have so many threads; Unsupported once a kernel has settled for another number."""
        if self._settled and count != self._threads:
            raise Unsupported(
                f"{self.name} has settled for {self._threads} threads, and keeps them:"
                f" for {count} start a new process"
            )
        self._threads = count

    def settle_threads(self) -> int:
        """Return the number of threads, which can no longer be changed from now on."""
        self._settled = True
        return self._threads

    def wait(self, output: Any) -> None:
        """Return once an output is there: it is, when the call has returned."""


NO_TF32 = "tf32 exists only on NVIDIA GPUs, not on cpu"

Maker = Callable[[Any, Any, Any, str, str], Function]
"""``maker(backend, problem, drawn, precision, operation)``: one per framework and family."""


def builder(make: Maker) -> Builder:
    """Return a builder of kernels from the functions that `make` makes."""
    return partial(_build, make)


def builder_in(module: ModuleType) -> Builder:
    """Return a module's builder of kernels: its `build`, else one from its `function`."""
    return module.build if hasattr(module, "build") else builder(module.function)


def _build(
    make: Maker, backend: Any, problem: Problem, precision: str, operation: str, seed: int
) -> Kernel:
    drawn = families.module_of(problem).inputs(problem, precision, seed)
    function = make(backend, problem, drawn, precision, computed(operation))
    first = operation == FIRST_CALL
    compiled = (lambda: function.compile()()) if first else function.compile()
    newest = LatestOutput(compiled)
    if not first:
        newest.run()  # a long call is its own warm-up, and must not be what compiles
    prepared = Prepared(
        run=newest.run,
        reset=newest.reset,
        output=_remembering(function.read, newest),
        further={name: _remembering(read, newest) for name, read in function.further.items()},
        intermediate=function.intermediate,
        synchronise=lambda: backend.wait(newest.output),
        notes={"output": "a new one in every call", **function.notes},
        implementation=getattr(compiled, "implementation", str),
    )
    return assemble(backend, problem, precision, operation, drawn, prepared)


def _remembering(read: Callable[[Any], np.ndarray], newest: LatestOutput) -> Values:
    """Return a function that reads the newest output, once for any number of calls."""
    known: list[Any] = [0, None]

    def again() -> np.ndarray:
        made = newest.value()
        if known[0] != newest.calls:
            known[:] = newest.calls, read(made)
        return np.asarray(known[1])

    return again
