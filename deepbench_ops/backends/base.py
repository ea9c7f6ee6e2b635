"""The interface of a framework: everything that measuring asks of one."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any, ClassVar

import numpy as np

from deepbench_ops.backends import families, frameworks
from deepbench_ops.backends.frameworks import OWN
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.conditions import DEVICE, EXECUTION, LAYOUT
from deepbench_ops.errors import DeepbenchError, Unsupported
from deepbench_ops.problems.families import found
from deepbench_ops.problems.precision import precision as known_precision
from deepbench_ops.problems.problem import FIRST_CALL, OPERATIONS_SUFFIX, Problem, computed
from deepbench_ops.problems.problem_lists import TYPES
from deepbench_ops.problems.suggestions import unknown

Builder = Callable[[Any, Any, str, str, int], Kernel]
"""``builder(backend, problem, precision, operation, seed)``: one per framework and family."""

COPIES = 2
"""Arrays as drawn, and as converted, kept for a reset or written: what preparing holds at once."""


def demand_layout(kind: type[Problem], layout: str) -> None:
    """Raise Unsupported for a layout that problems of that kind do not have."""
    if layout not in kind.layouts:
        raise Unsupported(
            f"{kind.family} problems have no {layout} layout ({LAYOUT.variable}): their operands"
            " lie as published"
        )


class Backend(ABC):
    """A framework on one device: prepares kernels, fixes its threads, says what it is built of."""

    name: str
    devices: ClassVar[tuple[str, ...]] = (DEVICE.usual,)
    """The devices that it runs on."""
    device: str
    layout: str = LAYOUT.usual
    """How the tensors of later kernels lie in memory, in families that leave a choice."""
    execution: str = EXECUTION.usual
    """Name of the execution of later kernels, for operations that offer several."""
    compiles: ClassVar[bool] = False
    """Whether it compiles a kernel before it runs it, which a first call includes."""
    takes_apart: ClassVar[bool] = False
    """Whether it can list the operations of a model's step, and time each alone."""

    def __init__(self, device: str = "cpu") -> None:
        self.device = device

    @classmethod
    def builder(cls, family: str) -> Builder | None:
        """Return the builder of its kernels of a family; None where it has none."""
        module = _module_of(cls, family)
        return None if module is None else cls.builder_in(module)

    @classmethod
    def builder_in(cls, module: ModuleType) -> Builder:
        """Return the builder of kernels in a module of a family: its function `build`."""
        build: Builder = module.build
        return build

    @classmethod
    def import_families(cls) -> None:
        """Import the modules of all families, so that forked children need not.

        A faulty one of another distribution is reported when its kernels are asked for.
        """
        for family in TYPES:
            with suppress(DeepbenchError):
                _module_of(cls, family)

    def build(
        self, problem: Problem, precision: str, operation: str = "forward", seed: int = 0
    ) -> Kernel:
        """Prepare `operation` of `problem` with operands drawn from `seed`.

        Raises Unsupported where this framework, release or device has no such operation or the
        family no such layout or execution, and DeepbenchError for an unknown precision or
        operation.
        """
        known_precision(precision)
        known = (*problem.operations, *problem.uncompared)
        if operation not in known:
            raise unknown(f"{problem.family} operation", operation, known)
        if precision not in problem.precisions:
            raise Unsupported(f"{problem.family} is not measured in {precision}")
        if operation == FIRST_CALL and not self.compiles:
            raise Unsupported(f"{self.name} compiles nothing: its first call is like any other")
        if operation.endswith(OPERATIONS_SUFFIX) and not self.takes_apart:
            raise Unsupported(f"{self.name} cannot list the operations of a {computed(operation)}")
        demand_layout(type(problem), self.layout)
        if self.execution != EXECUTION.usual and operation not in problem.served:
            raise Unsupported(
                f"a {problem.family} {operation} is run {EXECUTION.usual} alone:"
                f" {EXECUTION.variable}={self.execution} is for whole models in inference"
            )
        builder = self.builder(problem.family)
        if builder is None:
            raise Unsupported(f"the {self.name} backend has no {problem.family} kernels")
        families.refuse(problem, precision, computed(operation))
        return builder(self, problem, precision, operation, seed)

    def lacks(self, error: Exception) -> bool:
        """Return whether `error` says that an operation does not exist here, and no fault."""
        return False

    def memory_needed(self, problem: Problem, precision: str, operation: str) -> float:
        """Return about how many bytes preparing and running a kernel takes on the device.

        By the family's own count where it has one, else by the operands in float32.
        """
        counted = families.memory_needed(problem, operation, self.execution)
        return COPIES * problem.bytes_of("float32", operation) if counted is None else counted

    def implementation(self) -> str:
        """Return which library code computes its products, as 'openblas Zen'; "" where one name
        does not do for all kernels, or it is not known."""
        return ""

    @property
    def synchronise(self) -> Callable[[], object]:
        """Function that returns once everything enqueued on the device has been done."""
        return done

    def read(self, output: Any, index: tuple[Any, ...]) -> np.ndarray:
        """Return entries of an output on the host, all of them for the index ().

        In any type that holds them exactly; `assembly` widens them.
        """
        return np.asarray(output[index])

    @abstractmethod
    def memory_available(self) -> float:
        """Return the free bytes of the device, infinity where unknown."""

    @abstractmethod
    def threads(self) -> int | None:
        """Return the number of CPU threads an operation may use, None where unknown."""

    @abstractmethod
    def set_threads(self, count: int) -> None:
        """Make every later operation use `count` CPU threads; Unsupported where impossible."""

    @abstractmethod
    def versions(self) -> dict[str, str]:
        """Return what decides the speed: releases, linear-algebra libraries, code path chosen."""


def done() -> None:
    """Return at once: a call of the framework returns when the operation has been done."""


@cache
def _module_of(kind: type[Backend], family: str) -> ModuleType | None:
    """Return the module with a framework's kernels of a family; None where there is none.

    It is named after the family, in the package of the framework's class or of one that it is
    derived from; or, among the files of a family of another distribution, after both.
    """
    packages = dict.fromkeys(each.__module__.rpartition(".")[0] for each in kind.__mro__)
    names = [f"{package}.{family}" for package in packages if package not in ("", __package__)]
    names.append(f"{found()[0][family].package}.{family}_{kind.name}")
    name = next((name for name in names if find_spec(name) is not None), None)
    return None if name is None else _imported(name)


def _imported(name: str) -> ModuleType:
    """Import a module with kernels; DeepbenchError, with the distribution, for a fault of another
    distribution's code."""
    try:
        return import_module(name)
    except Exception as fault:
        origins = {each.package: each.distribution for each in found()[0].values()}
        origins |= {each.package: each.distribution for each in frameworks.found()[0].values()}
        origin = origins.get(name.rpartition(".")[0], OWN)
        if origin == OWN:
            raise
        raise DeepbenchError(f"{origin}: {name} cannot be imported: {fault}") from None
