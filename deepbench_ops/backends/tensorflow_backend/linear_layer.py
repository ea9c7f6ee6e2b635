"""Linear layers in TensorFlow: tf.matmul in a tf.function."""

from typing import Any

import tensorflow as tf

from deepbench_ops.backends.families.linear_layer import BIAS_OUTPUT, LinearInputs
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.tensorflow_backend.device import TensorFlowDevice
from deepbench_ops.problems.linear_layer import LinearLayer


def function(
    backend: TensorFlowDevice,
    problem: LinearLayer,
    drawn: LinearInputs,
    precision: str,
    operation: str,
) -> Function:
    """Return a layer or one of its gradients."""

    def forward(x: Any, weight: Any, *bias: Any) -> Any:
        y = tf.matmul(x, weight, transpose_b=True)
        return tf.nn.bias_add(y, bias[0]) if bias else y

    def backward_weight(gradient: Any, x: Any) -> Any:
        found = tf.matmul(gradient, x, transpose_a=True)
        if not problem.bias:
            return found
        return found, tf.cast(tf.reduce_sum(tf.cast(gradient, tf.float32), 0), gradient.dtype)

    if operation == "forward":
        operands = (drawn.x, drawn.weight, *(() if drawn.bias is None else (drawn.bias,)))
        called: Any = forward
    elif operation == "backward_input":
        operands, called = (drawn.gradient, drawn.weight), tf.matmul
    else:
        operands, called = (drawn.gradient, drawn.x), backward_weight
    several = operation == "backward_weight" and problem.bias
    return Function(
        compile=backend.compiled(called, backend.tensors(precision, *operands)),
        read=lambda output: (output[0] if several else output).numpy(),
        further={BIAS_OUTPUT: lambda output: output[1].numpy()[:, None]} if several else {},
        notes={"route": "tf.function of tf.matmul, the bias's gradient added up in float32"},
    )
