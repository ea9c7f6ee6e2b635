"""MindSpore on the CPU: one module per family of kernels, run eagerly as is its default."""

from typing import ClassVar

from deepbench_ops.backends.base import Builder
from deepbench_ops.backends.functional import builder
from deepbench_ops.backends.mindspore_backend import conv, gemm, rnn, sparse_gemm
from deepbench_ops.backends.mindspore_backend.device import MindSporeDevice


class MindSporeBackend(MindSporeDevice):
    """All kernels of MindSpore."""

    builders: ClassVar[dict[str, Builder]] = {
        "gemm": builder(gemm.function),
        "conv": builder(conv.function),
        "rnn": builder(rnn.function),
        "sparse_gemm": builder(sparse_gemm.function),
    }
