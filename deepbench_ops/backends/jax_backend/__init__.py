"""jax on the CPU or a GPU: one module per family of kernels, each compiled by jax.jit."""

from typing import ClassVar

from deepbench_ops.backends.base import Builder
from deepbench_ops.backends.functional import builder
from deepbench_ops.backends.jax_backend import conv, gemm, rnn, sparse_gemm
from deepbench_ops.backends.jax_backend.device import JaxDevice


class JaxBackend(JaxDevice):
    """All kernels of jax."""

    builders: ClassVar[dict[str, Builder]] = {
        "gemm": builder(gemm.function),
        "conv": builder(conv.function),
        "rnn": builder(rnn.function),
        "sparse_gemm": builder(sparse_gemm.function),
    }
