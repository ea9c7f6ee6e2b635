"""Cross-entropy with its linear layer in TensorFlow, one after the other."""

from typing import Any

import tensorflow as tf

from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.tensorflow_backend import differentiable
from deepbench_ops.backends.tensorflow_backend.device import TensorFlowDevice
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.linear_cross_entropy import LinearCrossEntropy
from deepbench_ops.problems.selections import FUSED


def function(
    backend: TensorFlowDevice,
    problem: LinearCrossEntropy,
    drawn: Operands,
    precision: str,
    operation: str,
) -> Function:
    """Return the forward or backward pass; raise Unsupported for the fused operations."""
    if operation.startswith(FUSED):
        raise Unsupported("tensorflow has no single operation for linear layer and cross-entropy")

    def loss(x: Any, weight: Any, targets: Any) -> Any:
        logits = tf.cast(tf.matmul(x, weight, transpose_b=True), tf.float32)
        each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=targets, logits=logits)
        return tf.reduce_mean(each)

    route = "tf.matmul, tf.nn.sparse_softmax_cross_entropy_with_logits in float32"
    return differentiable.function(backend, problem, drawn, precision, operation, loss, route)
