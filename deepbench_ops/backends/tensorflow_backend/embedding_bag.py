"""Embedding bags in TensorFlow: tf.gather, sums in float32, and a dense gradient."""

from typing import Any

import tensorflow as tf

from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.tensorflow_backend import differentiable
from deepbench_ops.backends.tensorflow_backend.device import TensorFlowDevice
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.embedding_bag import EmbeddingBag


def function(
    backend: TensorFlowDevice,
    problem: EmbeddingBag,
    drawn: Operands,
    precision: str,
    operation: str,
) -> Function:
    """Return the forward or backward pass; raise Unsupported for gradients in 16 bits."""
    if operation == "backward" and precision != "float32":
        raise Unsupported(
            f"tensorflow adds up the gradients of a row in {precision}, not in 32 bits"
        )

    def sums(rows: Any, bags: Any) -> Any:
        found = tf.cast(tf.gather(rows, bags), tf.float32)
        return tf.cast(tf.reduce_sum(found, axis=1), rows.dtype)

    route = "tf.gather, tf.reduce_sum in float32, a gradient made dense"
    return differentiable.function(backend, problem, drawn, precision, operation, sums, route)
