"""Attention of a decoding step in numpy, by the code for `attention`."""

from deepbench_ops.backends.backend_interface import Backend
from deepbench_ops.backends.families import attention_decode
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.numpy_backend.attention import prepared
from deepbench_ops.backends.numpy_backend.precision import refuse_lacking
from deepbench_ops.problems.attention_decode import AttentionDecode


def build(
    backend: Backend, problem: AttentionDecode, precision: str, operation: str, seed: int
) -> Kernel:
    """Prepare a decoding step in float32, or in float16 computed in float32."""
    refuse_lacking(precision)
    drawn = attention_decode.inputs(problem, precision, seed)  # type: ignore[arg-type]
    return prepared(backend, drawn, precision, operation)
