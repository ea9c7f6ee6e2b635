"""Rotary position embedding in TensorFlow, as its users write it."""

from typing import Any

import tensorflow as tf

from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.tensorflow_backend import differentiable
from deepbench_ops.backends.tensorflow_backend.device import TensorFlowDevice
from deepbench_ops.problems.rope import Rope


def function(
    backend: TensorFlowDevice, problem: Rope, drawn: Operands, precision: str, operation: str
) -> Function:
    """Return the forward or backward pass, with its operands bound."""

    def turned(x: Any, cosines: Any, sines: Any) -> Any:
        first, second = tf.split(x, 2, axis=-1)
        return x * cosines + tf.concat((-second, first), axis=-1) * sines

    def rotate(queries: Any, keys: Any, cosines: Any, sines: Any) -> Any:
        return turned(queries, cosines, sines), turned(keys, cosines, sines)

    route = "x * cos + tf.concat((-x2, x1)) * sin, of queries and keys"
    return differentiable.function(backend, problem, drawn, precision, operation, rotate, route)
