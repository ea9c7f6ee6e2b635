"""torch on the CPU or an NVIDIA GPU: one module per family of kernels."""

from dataclasses import replace
from functools import partial
from typing import ClassVar

from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.torch_backend import library_log
from deepbench_ops.backends.torch_backend.device import TorchDevice
from deepbench_ops.problems.problem import Problem


class TorchBackend(TorchDevice):
    """All kernels of torch."""

    lists_operations: ClassVar[bool] = True

    @classmethod
    def before_forks(cls) -> None:
        """Let MKL find the clock rate of the processor."""
        library_log.find_clock_rate()

    def build(
        self, problem: Problem, precision: str, operation: str = "forward", seed: int = 0
    ) -> Kernel:
        """Prepare a kernel as `Backend.build` does; raise Unsupported for tf32 without hardware."""
        if precision == "tf32":
            self.demand_tf32()
        kernel = super().build(problem, precision, operation, seed)
        named = partial(library_log.implementation, kernel, self.device, problem.family)
        return replace(kernel, implementation=named)
