"""Common code of the frameworks whose functions return new arrays.

A family's module makes a `Function` with its operands bound. This module makes the kernel: it
compiles the function once, and its output is that of the newest call. The operation of a first call
compiles again in each run.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import ModuleType
from typing import Any, ClassVar

import numpy as np

from deepbench_ops.backends import families
from deepbench_ops.backends.backend_interface import Backend, Builder
from deepbench_ops.backends.free_memory import available
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.kernel_assembly import Prepared, Values, assemble
from deepbench_ops.backends.latest_output import LatestOutput
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.problem import FIRST_CALL, Problem, computed

Call = Callable[[], Any]
"""A compiled call. It may have an attribute `implementation`, see `with_implementation`."""


def with_implementation(call: Any, implementation: Callable[[], str]) -> Call:
    """Set the attribute `implementation` of `call` and return `call`.

    implementation: function that returns the name of the library code that computes.
    """
    call.implementation = implementation
    return call  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Function:
    """One operation with its operands bound, as users of the framework write it."""

    compile: Callable[[], Call]
    """Make the function again, with empty caches, and return it. Its first call may compile."""
    read: Callable[[Any], np.ndarray]
    """Return an output as an array on the host, with the axes of the reference."""
    notes: Mapping[str, str]
    """Notes on layout and route, in addition to those on the operands."""
    further: Mapping[str, Callable[[Any], np.ndarray]] = field(default_factory=dict)
    """Functions that return further outputs as arrays on the host, by the family's names."""
    intermediate: Mapping[str, Values] = field(default_factory=dict)
    """See `Prepared.intermediate`."""


class CpuBackend(Backend):
    """A framework on the CPU whose functions return new arrays.

    The number of threads can no longer change after the first kernel.
    """

    compiles: ClassVar[bool] = True
    lacking: ClassVar[Mapping[str, str]] = {}
    """Reasons, by precision, why the framework has no kernel in that precision."""
    lacking_layouts: ClassVar[Mapping[str, str]] = {}
    """Reasons, by layout, why the framework has no kernel whose tensors lie in that layout."""

    def __init__(self, device: str = "cpu") -> None:
        super().__init__(device)
        self._threads = len(os.sched_getaffinity(0))
        self._settled = False

    @classmethod
    def builder_in(cls, module: ModuleType) -> Builder:
        """Return the builder of kernels that a family's module defines."""
        return builder_in(module)

    def build(
        self, problem: Problem, precision: str, operation: str = "forward", seed: int = 0
    ) -> Kernel:
        """Prepare a kernel as `Backend.build` does.

        Raises Unsupported for a precision or layout that the framework does not have.
        """
        if precision in self.lacking:
            raise Unsupported(self.lacking[precision])
        if self.layout in problem.layouts and self.layout in self.lacking_layouts:
            raise Unsupported(self.lacking_layouts[self.layout])
        return super().build(problem, precision, operation, seed)

    def memory_available(self) -> float:
        """Return the bytes that can be allocated without swapping, infinity where unknown."""
        return available()

    def threads(self) -> int:
        """Return the number of threads of kernels, those to come included."""
        return self._threads

    def set_threads(self, count: int) -> None:
        """Set the number of threads; raise Unsupported if a kernel exists with another number."""
        if self._settled and count != self._threads:
            raise Unsupported(
                f"{self.name} already runs with {self._threads} threads and cannot change them:"
                f" start a new process for {count} threads"
            )
        self._threads = count

    def settle_threads(self) -> int:
        """Fix the number of threads for the life of the process, and return it."""
        self._settled = True
        return self._threads

    def wait(self, output: Any) -> None:
        """Return once an output is complete: at once, since a call returns a complete output."""


NO_TF32 = "tf32 exists only on NVIDIA GPUs, not on cpu"

Maker = Callable[[Any, Any, Any, str, str], Function]
"""``maker(backend, problem, drawn, precision, operation)``: one per framework and family."""


def builder(make: Maker) -> Builder:
    """Return a builder of kernels that gets its functions from `make`."""
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
        newest.run()  # compiles now: a long kernel is timed from its first call on
    prepared = Prepared(
        run=newest.run,
        reset=newest.reset,
        output=_cached_reader(function.read, newest),
        further={name: _cached_reader(read, newest) for name, read in function.further.items()},
        intermediate=function.intermediate,
        synchronise=lambda: backend.wait(newest.output),
        notes={"output": "a new one in every call", **function.notes},
        implementation=getattr(compiled, "implementation", str),
    )
    return assemble(backend, problem, precision, operation, drawn, prepared)


def _cached_reader(read: Callable[[Any], np.ndarray], newest: LatestOutput) -> Values:
    """Return a function that returns the newest output, and reads each output only once."""
    known: list[Any] = [0, None]

    def again() -> np.ndarray:
        made = newest.value()
        if known[0] != newest.calls:
            known[:] = newest.calls, read(made)
        return np.asarray(known[1])

    return again
