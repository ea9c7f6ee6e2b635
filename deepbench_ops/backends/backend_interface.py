"""The interface of a framework: all functions that a measurement calls."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any, ClassVar

import numpy as np

from deepbench_ops.backends import families, framework_list
from deepbench_ops.backends.framework_list import OWN
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.errors import PLUGIN_FAULTS, DeepbenchError, Unsupported, one_line
from deepbench_ops.problems.family_list import found
from deepbench_ops.problems.precision import precision as known_precision
from deepbench_ops.problems.problem import FIRST_CALL, OPERATIONS_SUFFIX, Problem, computed
from deepbench_ops.problems.problem_lists import TYPES
from deepbench_ops.problems.suggestions import unknown
from deepbench_ops.run_conditions import DEVICE, EXECUTION, LAYOUT

Builder = Callable[[Any, Any, str, str, int], Kernel]
"""``builder(backend, problem, precision, operation, seed)``: one per framework and family."""

COPIES = 2
"""Copies of the operands that exist at once while a kernel is prepared: the drawn arrays and the
converted ones."""


def require_layout(kind: type[Problem], layout: str) -> None:
    """Raise Unsupported for a layout that this class of problems does not have."""
    if layout not in kind.layouts:
        raise Unsupported(
            f"{kind.family} problems have no {layout} layout ({LAYOUT.variable}): their operands"
            " have the published layout"
        )


class Backend(ABC):
    """A framework on one device: it prepares kernels, sets the number of threads and reports the
    versions of its libraries."""

    name: str
    """Name of the framework, one of `backends.NAMES`."""
    devices: ClassVar[tuple[str, ...]] = (DEVICE.usual,)
    """Names of the devices that the framework supports."""
    device: str
    """Name of the device in use."""
    layout: str = LAYOUT.usual
    """Memory layout of the tensors of kernels that are prepared from now on, in families that have
    several."""
    execution: str = EXECUTION.usual
    """Execution (such as compiled) of kernels that are prepared from now on, for operations that
    have several."""
    compiles: ClassVar[bool] = False
    """Whether the framework compiles a kernel before its first run. A first call includes this."""
    lacking_families: ClassVar[Mapping[str, str]] = {}
    """Reasons, by family, why the framework has no kernels of it."""
    lists_operations: ClassVar[bool] = False
    """Whether the framework can list the operations of a model's step and time each alone."""

    def __init__(self, device: str = "cpu") -> None:
        self.device = device

    @classmethod
    def builder(cls, family: str) -> Builder | None:
        """Return the builder of this framework's kernels of a family; None if it has no such
        kernels."""
        module = _module_of(cls, family)
        return None if module is None else cls.builder_in(module)

    @classmethod
    def lacking_reason(cls, family: str) -> str:
        """Return the reason why this framework has no kernels of a family: the one that it states,
        or that this project has not written them."""
        return cls.lacking_families.get(
            family, f"this project has no {family} kernels for {cls.name}"
        )

    @classmethod
    def builder_in(cls, module: ModuleType) -> Builder:
        """Return the builder of kernels that a family's module defines: the function `build`."""
        build: Builder = module.build
        return build

    @classmethod
    def import_families(cls) -> None:
        """Import the modules of all families, so that forked children need not import them.

        A faulty module of another distribution is reported when one of its kernels is built.
        """
        for family in TYPES:
            with suppress(DeepbenchError):
                _module_of(cls, family)

    @classmethod
    def before_forks(cls) -> None:
        """Prepare the framework for processes that are forked later, so that not each has to.

        For kernels on the processor. It starts no thread, since none outlives a fork.
        """
        return None

    def build(
        self, problem: Problem, precision: str, operation: str = "forward", seed: int = 0
    ) -> Kernel:
        """Prepare `operation` of `problem` with operands drawn from `seed`.

        Raises Unsupported where this framework, release or device does not have the operation, or
        the family does not have the layout or execution, and DeepbenchError for an unknown
        precision or operation.
        """
        known_precision(precision)
        known = (*problem.operations, *problem.uncompared)
        if operation not in known:
            raise unknown(f"{problem.family} operation", operation, known)
        if precision not in problem.precisions:
            raise Unsupported(f"{problem.family} is not measured in {precision}")
        if operation == FIRST_CALL and not self.compiles:
            raise Unsupported(f"{self.name} compiles nothing: its first call is like any other")
        if operation.endswith(OPERATIONS_SUFFIX) and not self.lists_operations:
            raise Unsupported(f"{self.name} cannot list the operations of a {computed(operation)}")
        require_layout(type(problem), self.layout)
        if self.execution != EXECUTION.usual and operation not in problem.served:
            raise Unsupported(
                f"a {problem.family} {operation} is run {EXECUTION.usual} alone:"
                f" {EXECUTION.variable}={self.execution} is for whole models in inference"
            )
        builder = self.builder(problem.family)
        if builder is None:
            raise Unsupported(self.lacking_reason(problem.family))
        families.refuse(problem, precision, computed(operation))
        return builder(self, problem, precision, operation, seed)

    def lacks(self, error: Exception) -> bool:
        """Return whether `error` means that the framework does not have an operation on this
        device; False for any other error."""
        return False

    def memory_needed(self, problem: Problem, precision: str, operation: str) -> float:
        """Return an estimate of the bytes that preparing and running a kernel takes on the device.

        The family's own estimate where it has one, else COPIES times the operands in float32.
        """
        counted = families.memory_needed(problem, operation, self.execution)
        return COPIES * problem.bytes_of("float32", operation) if counted is None else counted

    def implementation(self) -> str:
        """Return the library code that computes matrix products, such as 'openblas Zen'.

        "" where it is unknown, or differs between kernels.
        """
        return ""

    @property
    def synchronise(self) -> Callable[[], object]:
        """Function that returns once everything enqueued on the device has been done."""
        return done

    def read(self, output: Any, index: tuple[Any, ...]) -> np.ndarray:
        """Return entries of an output as an array on the host; the index () means all entries.

        The array may have any type that holds the numbers exactly; `kernel_assembly` widens it.
        """
        return np.asarray(output[index])

    @abstractmethod
    def memory_available(self) -> float:
        """Return the free memory of the device in bytes, infinity where it is unknown."""

    @abstractmethod
    def threads(self) -> int | None:
        """Return the number of CPU threads that an operation may use, None where it is unknown."""

    @abstractmethod
    def set_threads(self, count: int) -> None:
        """Make every later operation use `count` CPU threads; raise Unsupported where the framework
        cannot."""

    @abstractmethod
    def versions(self) -> dict[str, str]:
        """Return the facts that decide the speed, by name: versions, linear-algebra libraries and
        the code path that they chose."""


def done() -> None:
    """Return at once, for frameworks whose calls return only after the operation is complete."""


@cache
def _module_of(kind: type[Backend], family: str) -> ModuleType | None:
    """Return the module with a framework's kernels of a family; None where no such module exists.

    The module has the family's name and lies in the package of the framework's class or of a base
    class. In the package of a family of another distribution its name is `<family>_<framework>`.
    """
    packages = dict.fromkeys(each.__module__.rpartition(".")[0] for each in kind.__mro__)
    names = [f"{package}.{family}" for package in packages if package not in ("", __package__)]
    names.append(f"{found()[0][family].package}.{family}_{kind.name}")
    name = next((name for name in names if find_spec(name) is not None), None)
    return None if name is None else _imported(name)


def _imported(name: str) -> ModuleType:
    """Import a module with kernels.

    Raises DeepbenchError, with the name of the distribution, for a fault in the code of another
    distribution.
    """
    try:
        return import_module(name)
    except PLUGIN_FAULTS as fault:
        origins = {each.package: each.distribution for each in found()[0].values()}
        origins |= {each.package: each.distribution for each in framework_list.found()[0].values()}
        origin = origins.get(name.rpartition(".")[0], OWN)
        if origin == OWN:
            raise
        raise DeepbenchError(f"{origin}: {name} cannot be imported: {one_line(fault)}") from None
