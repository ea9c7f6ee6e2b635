"""TensorFlow on the CPU: one module per family of kernels, each a tf.function."""

from typing import ClassVar

from deepbench_ops.backends.base import Builder
from deepbench_ops.backends.functional import builder
from deepbench_ops.backends.tensorflow_backend import conv, gemm, rnn, sparse_gemm
from deepbench_ops.backends.tensorflow_backend.device import TensorFlowDevice


class TensorFlowBackend(TensorFlowDevice):
    """All kernels of TensorFlow."""

    builders: ClassVar[dict[str, Builder]] = {
        "gemm": builder(gemm.function),
        "conv": builder(conv.function),
        "rnn": builder(rnn.function),
        "sparse_gemm": builder(sparse_gemm.function),
    }
