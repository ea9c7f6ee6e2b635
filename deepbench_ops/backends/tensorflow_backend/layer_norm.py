"""LayerNorm in TensorFlow, as its users write it: in float32, then rounded to the type of x."""

from typing import Any

import tensorflow as tf

from deepbench_ops.backends.families.layer_norm import EPSILON
from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.tensorflow_backend import differentiable
from deepbench_ops.backends.tensorflow_backend.device import TensorFlowDevice
from deepbench_ops.problems.layer_norm import LayerNorm


def function(
    backend: TensorFlowDevice, problem: LayerNorm, drawn: Operands, precision: str, operation: str
) -> Function:
    """Return the forward or backward pass, with its operands bound."""

    def normalise(x: Any, weight: Any, bias: Any) -> Any:
        wide, w, b = (tf.cast(each, tf.float32) for each in (x, weight, bias))
        mean, variance = tf.nn.moments(wide, [-1], keepdims=True)
        return tf.cast(tf.nn.batch_normalization(wide, mean, variance, b, w, EPSILON), x.dtype)

    route = "tf.nn.moments and tf.nn.batch_normalization in float32"
    return differentiable.function(backend, problem, drawn, precision, operation, normalise, route)
