"""KL divergence in TensorFlow, as its users write it."""

from typing import Any

import tensorflow as tf

from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.tensorflow_backend import differentiable
from deepbench_ops.backends.tensorflow_backend.device import TensorFlowDevice
from deepbench_ops.problems.kl_div import KlDiv


def function(
    backend: TensorFlowDevice, problem: KlDiv, drawn: Operands, precision: str, operation: str
) -> Function:
    """Return the forward or backward pass, with its operands bound."""

    def loss(predicted: Any, wanted: Any) -> Any:
        return tf.reduce_sum(wanted * (tf.math.log(wanted) - predicted)) / problem.tokens

    route = "tf.reduce_sum(t * (tf.math.log(t) - x)) / tokens"
    return differentiable.function(backend, problem, drawn, precision, operation, loss, route)
