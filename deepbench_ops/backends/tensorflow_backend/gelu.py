"""GELU in TensorFlow: tf.nn.gelu, its exact form, in float32, then rounded to the type of x."""

from typing import Any

import tensorflow as tf

from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.tensorflow_backend import differentiable
from deepbench_ops.backends.tensorflow_backend.device import TensorFlowDevice
from deepbench_ops.problems.gelu import Gelu


def function(
    backend: TensorFlowDevice, problem: Gelu, drawn: Operands, precision: str, operation: str
) -> Function:
    """Return the forward or backward pass, with its operands bound."""

    def exact_form(x: Any) -> Any:
        return tf.cast(tf.nn.gelu(tf.cast(x, tf.float32)), x.dtype)

    route = "tf.nn.gelu in float32"
    return differentiable.function(backend, problem, drawn, precision, operation, exact_form, route)
