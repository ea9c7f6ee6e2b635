"""C + A·B in TensorFlow: tf.matmul and an addition in a tf.function.

Tensors are row-major. The kernel therefore computes the transposed product of the operands in their
memory order.
"""

from typing import Any

import tensorflow as tf

from deepbench_ops.backends.families import gemm
from deepbench_ops.backends.families.gemm import GemmInputs
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.tensorflow_backend.device import TensorFlowDevice
from deepbench_ops.problems.gemm import Gemm


def function(
    backend: TensorFlowDevice, problem: Gemm, drawn: GemmInputs, precision: str, operation: str
) -> Function:
    """Return the product, with int32 sums for int8."""
    stored = gemm.row_major(problem, drawn)
    b, a = backend.tensors(precision, stored.b, stored.a)
    c = backend.tensor(stored.c, "int32" if precision == "int8" else precision)
    turned: dict[str, Any] = {
        "transpose_a": problem.b_transposed,
        "transpose_b": problem.a_transposed,
    }
    if precision == "int8":
        turned["output_type"] = tf.int32

    def product(b: Any, a: Any, c: Any) -> Any:
        return c + tf.matmul(b, a, **turned)

    return Function(
        compile=backend.compiled(product, (b, a, c)),
        read=lambda output: output.numpy().T,
        notes={"route": "tf.function of c + tf.matmul"},
    )
