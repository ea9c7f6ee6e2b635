"""A gated MLP in TensorFlow: three products, tf.nn.silu or tf.nn.gelu by tanh."""

from typing import Any

import tensorflow as tf

from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.tensorflow_backend import differentiable
from deepbench_ops.backends.tensorflow_backend.device import TensorFlowDevice
from deepbench_ops.problems.gated_mlp import GatedMlp


def function(
    backend: TensorFlowDevice, problem: GatedMlp, drawn: Operands, precision: str, operation: str
) -> Function:
    """Return the forward or backward pass, with its operands bound."""
    silu = problem.activation == "swiglu"

    def product(left: Any, right: Any) -> Any:
        return tf.matmul(left, right, transpose_b=True)

    def activation(x: Any) -> Any:
        wide = tf.cast(x, tf.float32)
        made = tf.nn.silu(wide) if silu else tf.nn.gelu(wide, approximate=True)
        return tf.cast(made, x.dtype)

    def mlp(x: Any, gate: Any, up: Any, down: Any) -> Any:
        return product(activation(product(x, gate)) * product(x, up), down)

    route = "tf.matmul, tf.nn.silu or gelu in float32"
    return differentiable.function(backend, problem, drawn, precision, operation, mlp, route)
