"""Recurrent layers in TensorFlow: the published passes as a tf.while_loop, and its block LSTM.

XLA compiles the loop and fuses all operations of a step except the product.
"""

from typing import Any

import tensorflow as tf

from deepbench_ops.backends.families import rnn_recurrence
from deepbench_ops.backends.families.rnn import PRODUCT_GRADIENTS
from deepbench_ops.backends.families.rnn_inputs import RnnInputs
from deepbench_ops.backends.families.rnn_recurrence import Functions
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.tensorflow_backend import block_lstm
from deepbench_ops.backends.tensorflow_backend.device import TensorFlowDevice
from deepbench_ops.problems.rnn import Rnn

FUNCTIONS = Functions(
    matmul=tf.matmul,
    sigmoid=tf.sigmoid,
    tanh=tf.tanh,
    relu=tf.nn.relu,
    sign=tf.sign,
    joined=lambda parts: tf.concat(parts, axis=-1),
)
XLA = True


def function(
    backend: TensorFlowDevice, problem: Rnn, drawn: RnnInputs, precision: str, operation: str
) -> Function:
    """Return one pass, with its operands bound."""
    makers = {
        "forward": _forward,
        "backward": _backward,
        "fused_forward": block_lstm.forward,
        "fused_backward": block_lstm.backward,
    }
    return makers[operation](backend, drawn, precision)


def _forward(backend: TensorFlowDevice, drawn: RnnInputs, precision: str) -> Function:
    problem = drawn.problem
    step = rnn_recurrence.forward_step(problem.cell, problem.hidden, FUNCTIONS)

    def layer(products: Any, r: Any, *first: Any) -> Any:
        def one(t: Any, state: Any, states: Any) -> Any:
            state = step(state, products[t], r)
            return t + 1, state, states.write(t, state[0])

        states = _array(problem.timesteps, first[0])
        start = (tf.constant(0), tuple(first), states)
        _, _, states = tf.while_loop(lambda t, *rest: t < problem.timesteps, one, start)
        return states.stack()

    operands = (drawn.products, drawn.recurrent, *rnn_recurrence.first_state(drawn))
    return Function(
        compile=backend.compiled(layer, backend.tensors(precision, *operands), XLA),
        read=lambda output: output.numpy(),
        notes={
            "route": "tf.function, compiled by XLA, of a tf.while_loop over the steps, one"
            " product a step for all gates"
        },
    )


def _backward(backend: TensorFlowDevice, drawn: RnnInputs, precision: str) -> Function:
    problem = drawn.problem
    cell, size, last = problem.cell, problem.hidden, problem.timesteps - 1
    factors = rnn_recurrence.factors(cell, size, FUNCTIONS)
    step = rnn_recurrence.backward_step(cell, FUNCTIONS)

    def layer(upstream: Any, r: Any, *kept: Any) -> Any:
        by = factors(*kept)
        dg, left = step(upstream[last], tf.zeros_like(upstream[last]), tuple(x[last] for x in by))

        def one(t: Any, dg: Any, left: Any, gradients: Any) -> Any:
            dh = upstream[t] + tf.matmul(dg, r, transpose_b=True)
            dh = dh + left if cell == "gru" else dh
            dg, left = step(dh, left, tuple(x[t] for x in by))
            return t - 1, dg, left, gradients.write(t, dg)

        gradients = _array(problem.timesteps, dg).write(last, dg)
        start = (tf.constant(last - 1), dg, left, gradients)
        *_, gradients = tf.while_loop(lambda t, *rest: t >= 0, one, start, maximum_iterations=last)
        together = gradients.stack()
        flat = tf.reshape(together, [-1, dg.shape[1]])
        states = tf.reshape(kept[0][:-1], [-1, size])
        return tf.matmul(states, flat, transpose_a=True), together

    operands = (drawn.upstream, drawn.recurrent, *rnn_recurrence.saved_for_backward(drawn))
    return Function(
        compile=backend.compiled(layer, backend.tensors(precision, *operands), XLA),
        read=lambda output: output[0].numpy(),
        further={PRODUCT_GRADIENTS: lambda output: output[1].numpy()},
        notes={
            "route": "tf.function, compiled by XLA, of a tf.while_loop over the steps, the gates'"
            " factors made beforehand for all of them; one product over all steps for dR"
        },
    )


def _array(steps: int, like: Any) -> Any:
    return tf.TensorArray(like.dtype, size=steps, element_shape=like.shape)
