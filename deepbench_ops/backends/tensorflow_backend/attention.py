"""Attention in TensorFlow: products and a softmax in a tf.function; gradients by a tape.

TensorFlow has no attention operator. All query heads that share a head of keys are one matrix.
"""

from typing import Any

import numpy as np
import tensorflow as tf

from deepbench_ops.backends.families import attention
from deepbench_ops.backends.families.attention import KEY_GRADIENT, VALUE_GRADIENT, AttentionInputs
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.tensorflow_backend.device import TensorFlowDevice
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.attention import FORCED

HIDDEN_SCORE = {"float16": -6e4}
"""Score of a key that a query does not see, in precisions that do not have the number -1e30."""


def function(
    backend: TensorFlowDevice, problem: Any, drawn: AttentionInputs, precision: str, operation: str
) -> Function:
    """Return attention or its gradients.

    Raises Unsupported for an operation that names an implementation: tensorflow has none.
    """
    if operation in FORCED:
        raise Unsupported("tensorflow has no attention operator with several implementations")
    call = _attention(problem, precision)
    names = "qk" if problem.latent else "qkv"
    operands = backend.tensors(precision, *(_grouped(drawn, name) for name in names))
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
        further={
            KEY_GRADIENT: lambda found: _array(found[1]),
            VALUE_GRADIENT: lambda found: _array(found[2]),
        },
        notes={**notes, "route": "GradientTape.gradient of tf.matmul and tf.nn.softmax"},
    )


def _attention(problem: Any, precision: str) -> Any:
    """Return attention as a function of q, k and v; of q and k where a value is part of its key."""
    hidden = None
    if problem.causal:
        group = problem.hq // problem.hkv
        seen = np.tile(attention.mask(problem.sq, problem.skv), (group, 1))
        hidden = np.where(seen, 0.0, HIDDEN_SCORE.get(precision, -1e30)).astype(np.float32)

    def call(q: Any, k: Any, v: Any = None) -> Any:
        scores = tf.matmul(q, k, transpose_b=True) * tf.cast(problem.d**-0.5, q.dtype)
        if hidden is not None:
            scores += tf.cast(hidden, q.dtype)
        values = k[..., : problem.dv] if v is None else v
        return tf.matmul(tf.nn.softmax(scores), values)

    return call


def _grouped(drawn: AttentionInputs, name: str) -> np.ndarray:
    """Return an operand grouped by head of keys, (b, hkv, rows, size); the rows are all tokens of
    all query heads in the group."""
    problem, values = drawn.problem, getattr(drawn, name)
    return np.ascontiguousarray(values).reshape(problem.b, problem.hkv, -1, values.shape[-1])


def _by_head(values: np.ndarray, problem: Any) -> np.ndarray:
    """Return an output grouped by head of keys with the axes (b, hq, sq, size)."""
    return values.reshape(problem.b, problem.hq, problem.sq, values.shape[-1])


def _array(output: Any) -> np.ndarray:
    return np.asarray(output.numpy())
