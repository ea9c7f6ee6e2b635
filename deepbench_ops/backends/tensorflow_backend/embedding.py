"""Embedding in TensorFlow: tf.gather, with the gradient converted to a dense tensor."""

from typing import Any

import tensorflow as tf

from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.tensorflow_backend import differentiable
from deepbench_ops.backends.tensorflow_backend.device import TensorFlowDevice
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.embedding import Embedding


def function(
    backend: TensorFlowDevice, problem: Embedding, drawn: Operands, precision: str, operation: str
) -> Function:
    """Return the forward or backward pass; raise Unsupported for gradients in 16 bits."""
    if operation == "backward" and precision != "float32":
        raise Unsupported(
            f"tensorflow adds up the gradients of a row in {precision}, not in 32 bits"
        )

    def look_up(table: Any, tokens: Any) -> Any:
        return tf.gather(table, tokens)

    route = "tf.gather, a gradient made dense"
    return differentiable.function(backend, problem, drawn, precision, operation, look_up, route)
