"""torch on the CPU or an NVIDIA GPU: one module per family of kernels."""

from typing import ClassVar

from deepbench_ops.backends.base import Builder
from deepbench_ops.backends.families.model import memory_needed
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.torch_backend import conv, gemm, model, rnn, sparse_gemm
from deepbench_ops.backends.torch_backend.device import TorchDevice
from deepbench_ops.problems.model import Model
from deepbench_ops.problems.problem import Problem


class TorchBackend(TorchDevice):
    """All kernels of torch."""

    takes_apart: ClassVar[bool] = True
    builders: ClassVar[dict[str, Builder]] = {
        "gemm": gemm.build,
        "conv": conv.build,
        "rnn": rnn.build,
        "sparse_gemm": sparse_gemm.build,
        "model": model.build,
    }

    def build(
        self, problem: Problem, precision: str, operation: str = "forward", seed: int = 0
    ) -> Kernel:
        """Prepare a kernel; tf32 only where the GPU has it."""
        if precision == "tf32":
            self.demand_tf32()
        return super().build(problem, precision, operation, seed)

    def memory_needed(self, problem: Problem, precision: str, operation: str) -> float:
        """Return about how many bytes it takes; of a model, by what `families.model` counts."""
        if isinstance(problem, Model):
            return memory_needed(problem, operation, self.execution)
        return super().memory_needed(problem, precision, operation)
