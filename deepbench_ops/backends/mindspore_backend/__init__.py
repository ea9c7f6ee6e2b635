"""MindSpore on the CPU: one module per family of kernels, run eagerly as is its default."""

import os

# How much MindSpore says is read when it is imported; its warnings print whole tensors.
os.environ.setdefault("GLOG_v", "4")

from typing import ClassVar

from deepbench_ops.backends.base import Builder
from deepbench_ops.backends.families.model import memory_needed
from deepbench_ops.backends.functional import builder
from deepbench_ops.backends.mindspore_backend import conv, gemm, model, rnn, sparse_gemm
from deepbench_ops.backends.mindspore_backend.device import MindSporeDevice
from deepbench_ops.problems.model import Model
from deepbench_ops.problems.problem import Problem


class MindSporeBackend(MindSporeDevice):
    """All kernels of MindSpore."""

    builders: ClassVar[dict[str, Builder]] = {
        "gemm": builder(gemm.function),
        "conv": builder(conv.function),
        "rnn": builder(rnn.function),
        "sparse_gemm": builder(sparse_gemm.function),
        "model": model.build,
    }

    def memory_needed(self, problem: Problem, precision: str, operation: str) -> float:
        """Return about how many bytes it takes; of a model, by its weights and what it keeps."""
        if isinstance(problem, Model):
            return memory_needed(problem, operation)
        return super().memory_needed(problem, precision, operation)
