"""The framework's class: matrix products as numpy has them, and the sums of its own."""

from typing import ClassVar

import toy

from deepbench_ops.backends.numpy_backend.backend import NumpyBackend


class ToyBackend(NumpyBackend):
    """toy, on the processor and on the device "toy0", which is the processor once more."""

    name = "toy"
    devices: ClassVar[tuple[str, ...]] = ("cpu", "toy0")

    @classmethod
    def builder(cls, family):
        return super().builder(family) if family in ("axpy", "gemm") else None

    def versions(self):
        return {**super().versions(), "framework": f"toy {toy.__version__}"}
