"""Cross-entropy in TensorFlow: its sparse softmax cross-entropy, and a mean."""

from typing import Any

import tensorflow as tf

from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.tensorflow_backend import differentiable
from deepbench_ops.backends.tensorflow_backend.device import TensorFlowDevice
from deepbench_ops.problems.cross_entropy import CrossEntropy


def function(
    backend: TensorFlowDevice,
    problem: CrossEntropy,
    drawn: Operands,
    precision: str,
    operation: str,
) -> Function:
    """Return the forward or backward pass, with its operands bound."""

    def loss(logits: Any, targets: Any) -> Any:
        each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=targets, logits=logits)
        return tf.reduce_mean(each)

    route = "tf.nn.sparse_softmax_cross_entropy_with_logits, tf.reduce_mean"
    return differentiable.function(backend, problem, drawn, precision, operation, loss, route)
