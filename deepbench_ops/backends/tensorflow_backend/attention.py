"""Attention in TensorFlow: products and a softmax in a tf.function; gradients by a tape.

TensorFlow has no operator of attention. Query heads of one head of keys are one matrix.
"""

from typing import Any

import numpy as np
import tensorflow as tf

from deepbench_ops.backends.families import attention
from deepbench_ops.backends.families.attention import OF_K, OF_V, AttentionInputs
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.tensorflow_backend.device import TensorFlowDevice
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.attention import FORCED

LEAST = {"float16": -6e4}
"""Score of a key that a query does not see, where -1e30 is no number."""


def function(
    backend: TensorFlowDevice, problem: Any, drawn: AttentionInputs, precision: str, operation: str
) -> Function:
    """Return attention or its gradients."""
    if operation in FORCED:
        raise Unsupported("tensorflow has no operator of attention that implementations differ in")
    call = _attention(problem, precision)
    operands = backend.tensors(precision, *(_grouped(drawn, name) for name in "qkv"))
    notes = {"implementation": "math", "layout": "(batch, head, token, number)"}
    if operation != "backward":
        return Function(
            compile=backend.compiled(call, operands),
            read=lambda output: _by_head(_array(output), problem),
            notes={**notes, "route": "tf.function of tf.matmul and tf.nn.softmax"},
        )
    gradient = backend.tensor(_grouped(drawn, "gradient"), precision)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(operands)
        output = call(*operands)
    return Function(
        compile=lambda: lambda: tape.gradient(output, operands, output_gradients=gradient),
        read=lambda found: _by_head(_array(found[0]), problem),
        further={OF_K: lambda found: _array(found[1]), OF_V: lambda found: _array(found[2])},
        notes={**notes, "route": "GradientTape.gradient of tf.matmul and tf.nn.softmax"},
    )


def _attention(problem: Any, precision: str) -> Any:
    """Return attention as a function of q, k and v."""
    hidden = None
    if problem.causal:
        group = problem.hq // problem.hkv
        seen = np.tile(attention.mask(problem.sq, problem.skv), (group, 1))
        hidden = np.where(seen, 0.0, LEAST.get(precision, -1e30)).astype(np.float32)

    def call(q: Any, k: Any, v: Any) -> Any:
        scores = tf.matmul(q, k, transpose_b=True) * tf.cast(problem.d**-0.5, q.dtype)
        if hidden is not None:
            scores += tf.cast(hidden, q.dtype)
        return tf.matmul(tf.nn.softmax(scores), v)

    return call


def _grouped(drawn: AttentionInputs, name: str) -> np.ndarray:
    """Return an operand with the query heads of a head of keys in a row: (b, hkv, tokens, size)."""
    problem, values = drawn.problem, getattr(drawn, name)
    return np.ascontiguousarray(values).reshape(problem.b, problem.hkv, -1, values.shape[-1])


def _by_head(values: np.ndarray, problem: Any) -> np.ndarray:
    """Return an output of all queries with the axes (b, hq, sq, size)."""
    return values.reshape(problem.b, problem.hq, problem.sq, values.shape[-1])


def _array(output: Any) -> np.ndarray:
    return np.asarray(output.numpy())
