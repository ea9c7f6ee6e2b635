"""RMSNorm in TensorFlow, as its users write it: in float32, then rounded to the type of x."""

from typing import Any

import tensorflow as tf

from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.families.rms_norm import EPSILON
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.tensorflow_backend import differentiable
from deepbench_ops.backends.tensorflow_backend.device import TensorFlowDevice
from deepbench_ops.problems.rms_norm import RmsNorm


def function(
    backend: TensorFlowDevice, problem: RmsNorm, drawn: Operands, precision: str, operation: str
) -> Function:
    """Return the forward or backward pass, with its operands bound."""
    route = "x * tf.math.rsqrt(tf.reduce_mean(x * x) + eps) * w in float32"

    def normalise(x: Any, weight: Any) -> Any:
        wide, w = (tf.cast(each, tf.float32) for each in (x, weight))
        scale = tf.math.rsqrt(tf.reduce_mean(wide * wide, -1, keepdims=True) + EPSILON)
        return tf.cast(wide * scale * w, x.dtype)

    def added(x: Any, weight: Any, residual: Any) -> Any:
        total = x + residual
        return normalise(total, weight), total

    compute = added if problem.added else normalise
    return differentiable.function(backend, problem, drawn, precision, operation, compute, route)
