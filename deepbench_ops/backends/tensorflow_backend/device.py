"""TensorFlow on the CPU: tensors, compilation, threads and versions."""

import os
from collections.abc import Callable
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from deepbench_ops.backends.functional import NO_TF32, Call, CpuBackend
from deepbench_ops.errors import Unsupported

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # its errors are raised, too

import tensorflow as tf

DTYPES = {
    "float32": tf.float32,
    "bfloat16": tf.bfloat16,
    "float16": tf.float16,
    "int8": tf.int8,
    "int32": tf.int32,
    "int64": tf.int64,
}

LACKING_WORDS = (
    "No OpKernel was registered",
    "only supports the NHWC",
    "only supports NHWC",
    "list of allowed values",
)
"""Parts of TensorFlow's messages about operations that it does not have."""


class TensorFlowDevice(CpuBackend):
    """TensorFlow on the "cpu"."""

    name = "tensorflow"
    lacking: ClassVar = {"tf32": NO_TF32}
    lacking_families: ClassVar = {
        "model": "tensorflow is not measured on whole networks: these run in torch, mindspore and"
        " onnxruntime",
        "optimizer_step": "tensorflow's optimisers are those of Keras, which this project does not"
        " measure yet",
        "quantised_linear": "tensorflow has no product of codes with scales by rows or groups: its"
        " quantised products take one range of floats for a whole matrix",
        "quantisation": "tensorflow quantises by one range for all of a tensor or for each channel,"
        " and has no scales by rows or blocks that are computed with the codes",
        "grouped_gemm": "tensorflow has no product of groups of different sizes (ragged_dot)",
        "linear_attention": "tensorflow has no operator of linear attention; written in elementary"
        " operations it is measured in numpy, torch and jax",
        "moe_layer": "tensorflow has no product of groups of different sizes, and no layer with a"
        " mixture of experts",
    }

    @cached_property
    def _device(self) -> Any:
        """Name of the device for TensorFlow; its first use sets the number of threads."""
        count = self.settle_threads()
        try:
            tf.config.threading.set_intra_op_parallelism_threads(count)
            tf.config.threading.set_inter_op_parallelism_threads(count)
        except RuntimeError:  # another backend of this process has set it
            made = tf.config.threading.get_intra_op_parallelism_threads()
            if made != count:
                raise Unsupported(
                    f"tensorflow already runs with {made} threads and cannot change them: start a"
                    f" new process for {count} threads"
                ) from None
        return "/CPU:0"

    def tensor(self, values: np.ndarray, precision: str) -> Any:
        """Return row-major `values` as a tensor in the type of `precision`."""
        with tf.device(self._device):
            return tf.constant(values.astype(DTYPES[precision].as_numpy_dtype, copy=False))

    def tensors(self, precision: str, *values: np.ndarray) -> tuple[Any, ...]:
        """Return several tensors, each as `tensor` returns it."""
        return tuple(self.tensor(each, precision) for each in values)

    def compiled(
        self, function: Callable[..., Any], operands: tuple[Any, ...], xla: bool = False
    ) -> Callable[[], Call]:
        """Return a function that makes a tf.function of `function` on `operands`; see
        `functional.Function.compile`. xla: whether XLA compiles it."""

        def compile_it() -> Call:
            traced = tf.function(lambda *given: function(*given), jit_compile=xla, autograph=False)
            return partial(traced, *operands)

        return compile_it

    def lacks(self, error: Exception) -> bool:
        """Return whether `error` is TensorFlow's report of a missing operation, type or layout."""
        if isinstance(error, tf.errors.UnimplementedError):
            return True
        return any(words in str(error) for words in LACKING_WORDS)

    def versions(self) -> dict[str, str]:
        """Return the versions of tensorflow and numpy, the setting of oneDNN, and the number of
        threads of an operation."""
        return {
            "framework": f"tensorflow {tf.__version__}",
            "tensorflow": str(tf.__version__),
            "numpy": np.__version__,
            "onednn_opts": os.environ.get("TF_ENABLE_ONEDNN_OPTS", "default"),
            "intra_op_threads": str(self.threads()),
        }
