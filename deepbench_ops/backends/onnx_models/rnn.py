"""Forward passes of recurrent layers: ONNX's own layer, and the published pass as ONNX's Scan.

A Scan runs an inner graph for every step. `rnn_recurrence` makes the nodes of this graph.
"""

import numpy as np

from deepbench_ops.backends.families import rnn_recurrence
from deepbench_ops.backends.families.rnn_cells import FUSED_ORDER
from deepbench_ops.backends.families.rnn_inputs import RnnInputs
from deepbench_ops.backends.families.rnn_recurrence import Functions
from deepbench_ops.backends.onnx_models.graph import Graph, OnnxModel, Value
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.rnn import Rnn

ORDER = {"vanilla": ("h",), "lstm": ("i", "o", "f", "g"), "gru": ("z", "r", "n")}
"""Order of the gates in ONNX's layers."""

OPERATORS = {"vanilla": "RNN", "lstm": "LSTM", "gru": "GRU"}
"""ONNX's operators, by cell."""


def model(problem: Rnn, drawn: RnnInputs, precision: str, operation: str) -> OnnxModel:
    """Return a forward pass; raise Unsupported for gradients."""
    if operation.endswith("backward"):
        raise Unsupported("ONNX is a format of trained networks: it has no backward passes")
    return (_layer if operation == "fused_forward" else _scan)(problem, drawn)


def _scan(problem: Rnn, drawn: RnnInputs) -> OnnxModel:
    dtype, state_shape = drawn.recurrent.dtype, drawn.first_hidden.shape
    body = Graph()
    r = body.constant("r", drawn.recurrent)
    first = rnn_recurrence.first_state(drawn)
    before = tuple(
        body.declared(f"state_{number}", dtype, state_shape) for number in range(len(first))
    )
    x = body.declared("x", dtype, drawn.products.shape[1:])
    step = rnn_recurrence.forward_step(problem.cell, problem.hidden, _functions(body))
    after = step(before, x, r)
    outputs = [*after, body.node("Identity", after[0])]
    graph = Graph()
    states = [graph.input(f"first_{number}", values) for number, values in enumerate(first)]
    found = graph.node(
        "Scan",
        *states,
        graph.input("products", drawn.products),
        outputs=len(outputs),
        body=body.proto("step", dict.fromkeys(outputs, (dtype, state_shape))),
        num_scan_inputs=1,
    )
    return OnnxModel(
        serialised=graph.serialised({found[-1]: (dtype, (problem.timesteps, *state_shape))}),
        feeds=graph.feeds,
        read=lambda outputs: np.asarray(outputs[0]),
        notes={"route": "ONNX Scan over the steps, one product a step for all gates, R constant"},
    )


def _functions(graph: Graph) -> Functions:
    def one(kind: str):  # type: ignore[no-untyped-def]
        return lambda *values: graph.node(kind, *values)

    def joined(parts: list[Value]) -> Value:
        found: Value = graph.node("Concat", *parts, axis=-1)
        return found

    return Functions(
        matmul=one("MatMul"),
        sigmoid=one("Sigmoid"),
        tanh=one("Tanh"),
        relu=one("Relu"),
        sign=one("Sign"),
        joined=joined,
    )


def _layer(problem: Rnn, drawn: RnnInputs) -> OnnxModel:
    kind = OPERATORS[problem.cell]
    w, r, w_bias, r_bias = (_reordered(part, problem.cell) for part in drawn.layer)
    graph = Graph()
    given = [
        graph.input("sequence", drawn.sequence),
        graph.constant("w", w[None]),
        graph.constant("r", r[None]),
        graph.constant("biases", np.concatenate([w_bias, r_bias])[None]),
        None,
        graph.input("first_hidden", drawn.first_hidden[None]),
    ]
    more = {"hidden_size": problem.hidden}
    if problem.cell == "lstm":
        given.append(graph.input("first_cell", drawn.first_cell[None]))
    if problem.cell == "gru":
        more["linear_before_reset"] = 1
    output = graph.node(kind, *given, **more)
    shape = (problem.timesteps, 1, problem.batch, problem.hidden)
    return OnnxModel(
        serialised=graph.serialised({output: (drawn.sequence.dtype, shape)}),
        feeds=graph.feeds,
        read=lambda outputs: np.asarray(outputs[0])[:, 0],
        notes={"route": f"ONNX {kind}, weights and biases constant"},
    )


def _reordered(values: np.ndarray, cell: str) -> np.ndarray:
    """Return rows of gates in ONNX's order, from rows in `FUSED_ORDER`."""
    parts = dict(zip(FUSED_ORDER[cell], np.split(values, len(ORDER[cell])), strict=True))
    return np.concatenate([parts[name] for name in ORDER[cell]])
