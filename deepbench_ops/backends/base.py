"""What measuring asks of a framework: the whole interface, kept small on purpose."""

from abc import ABC, abstractmethod

from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.gemm import Gemm

FAMILIES = ("gemm",)
"""The families that backends have kernels for, each under a method of that name."""


class Backend(ABC):
    """A framework on one device: prepares kernels, fixes its threads, says what it is built of."""

    name: str
    device: str

    def build(self, family: str, problem: Gemm, precision: str, seed: int = 0) -> Kernel:
        """Prepare `problem` of `family` through the method of that name; raises as it does."""
        if family not in FAMILIES:
            raise Unsupported(f"the {self.name} backend has no {family} kernels")
        kernel: Kernel = getattr(self, family)(problem, precision, seed)
        return kernel

    @abstractmethod
    def gemm(self, problem: Gemm, precision: str, seed: int = 0) -> Kernel:
        """Prepare C = op(A)·op(B) + C with column-major operands drawn from `seed`.

        Raises Unsupported where this framework, release or device has no such operation and
        DeepbenchError for an unknown precision.
        """

    @abstractmethod
    def threads(self) -> int | None:
        """Return the number of CPU threads an operation may use, None where it cannot be told."""

    @abstractmethod
    def set_threads(self, count: int) -> None:
        """Make every later operation use `count` CPU threads; Unsupported where impossible."""

    @abstractmethod
    def versions(self) -> dict[str, str]:
        """Return what decides the speed: releases, linear-algebra libraries, code path chosen."""
