"""TensorFlow's own LSTM layer on the CPU, BlockLSTMV2, and its gradient.

It has a single bias, the sum of the two biases among the operands. TensorFlow has no layer for
other cells; Keras writes loops for them.
"""

from typing import Any

import numpy as np
import tensorflow as tf

from deepbench_ops.backends.families.rnn import HIDDEN_STATES
from deepbench_ops.backends.families.rnn_cells import FUSED_ORDER
from deepbench_ops.backends.families.rnn_inputs import RnnInputs
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.tensorflow_backend.device import TensorFlowDevice
from deepbench_ops.errors import Unsupported

ORDER = ("i", "f", "g", "o")
"""Order of the gates in TensorFlow's layer."""

OUTPUTS = ("i", "cs", "f", "o", "ci", "co", "h")
"""Outputs of the layer that its gradient needs."""


def forward(backend: TensorFlowDevice, drawn: RnnInputs, precision: str) -> Function:
    """Return the forward pass of the layer over all steps."""
    fed = _fed(backend, drawn, precision)
    names = tuple(fed)

    def layer(*values: Any) -> Any:
        return _layer(drawn, dict(zip(names, values, strict=True))).h

    return Function(
        compile=backend.compiled(layer, tuple(fed.values())),
        read=lambda output: output.numpy(),
        notes={"route": "tf.function of BlockLSTMV2"},
    )


def backward(backend: TensorFlowDevice, drawn: RnnInputs, precision: str) -> Function:
    """Return the gradients of weights and bias; the forward pass runs once, before."""
    fed = _fed(backend, drawn, precision)
    made = _layer(drawn, fed)
    states = {name: getattr(made, name) for name in OUTPUTS}
    upstream = backend.tensor(drawn.upstream, precision)
    fed |= {**states, "h_grad": upstream, "cs_grad": tf.zeros_like(upstream)}
    names, size = tuple(fed), drawn.problem.hidden

    def layer(*values: Any) -> Any:
        found = tf.raw_ops.BlockLSTMGradV2(
            seq_len_max=_steps(drawn), use_peephole=False, **dict(zip(names, values, strict=True))
        )
        return found.w_grad, found.b_grad

    def read(output: Any) -> np.ndarray:
        weights, bias = (_published_order(part.numpy()) for part in output)
        rows = [weights[:size], bias[None], weights[size:], bias[None]]
        return np.concatenate(rows)

    return Function(
        compile=backend.compiled(layer, tuple(fed.values())),
        read=read,
        intermediate={HIDDEN_STATES: made.h.numpy},
        notes={"route": "tf.function of BlockLSTMGradV2"},
    )


def _fed(backend: TensorFlowDevice, drawn: RnnInputs, precision: str) -> dict[str, Any]:
    """Return the layer's operands by BlockLSTMV2's names; raise Unsupported for other cells."""
    if drawn.problem.cell != "lstm":
        raise Unsupported("tensorflow has its own layer for LSTMs only; Keras writes loops")
    w_in, w_hidden, b_in, b_hidden = drawn.layer
    weights = np.concatenate([w_in.T, w_hidden.T])
    nothing = np.zeros(drawn.problem.hidden, w_in.dtype)
    fed = {
        "x": drawn.sequence,
        "cs_prev": drawn.first_cell,
        "h_prev": drawn.first_hidden,
        "w": _own_order(weights),
        "wci": nothing,
        "wcf": nothing,
        "wco": nothing,
        "b": _own_order(b_in + b_hidden),
    }
    return {name: backend.tensor(values, precision) for name, values in fed.items()}


def _layer(drawn: RnnInputs, fed: dict[str, Any]) -> Any:
    return tf.raw_ops.BlockLSTMV2(seq_len_max=_steps(drawn), cell_clip=0, **fed)


def _steps(drawn: RnnInputs) -> Any:
    return tf.constant(drawn.problem.timesteps, tf.int64)


def _own_order(values: np.ndarray) -> np.ndarray:
    """Return columns of gates in TensorFlow's order, from columns in `FUSED_ORDER`."""
    return _columns(values, FUSED_ORDER["lstm"], ORDER)


def _published_order(values: np.ndarray) -> np.ndarray:
    return _columns(values, ORDER, FUSED_ORDER["lstm"])


def _columns(values: np.ndarray, order: tuple[str, ...], wanted: tuple[str, ...]) -> np.ndarray:
    parts = dict(zip(order, np.split(values, len(order), axis=-1), strict=True))
    return np.concatenate([parts[name] for name in wanted], axis=-1)
