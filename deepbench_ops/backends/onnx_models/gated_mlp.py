"""A gated MLP as the operators that exporters write: MatMul, Sigmoid or Tanh, Mul."""

from math import pi, sqrt

import numpy as np

from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.onnx_models import forward
from deepbench_ops.backends.onnx_models.graph import Graph, OnnxModel, Value
from deepbench_ops.problems.gated_mlp import GatedMlp

MATRICES = ("gate", "up", "down")


def model(problem: GatedMlp, drawn: Operands, precision: str, operation: str) -> OnnxModel:
    """Return the forward pass, with constant matrices in the order that MatMul requires."""

    def build(graph: Graph, x: Value, gate: Value, up: Value, down: Value) -> Value:
        activation = _silu if problem.activation == "swiglu" else _gelu_by_tanh
        inner = forward.in_float32(
            graph, graph.node("MatMul", x, gate), precision, lambda each: activation(graph, each)
        )
        found: Value = graph.node("MatMul", inner * graph.node("MatMul", x, up), down)
        return found

    turned = Operands(
        {
            **drawn.makers,
            **{name: lambda name=name: drawn[name].T for name in MATRICES},  # type: ignore[misc]
        },
        drawn.notes,
    )
    shapes = {"": (problem.tokens, problem.hidden)}
    names = "Sigmoid, Mul" if problem.activation == "swiglu" else "GELU by Tanh"
    route = f"MatMul, {names} in float32, matrices constant"
    return forward.model(turned, operation, build, shapes, route, MATRICES)


def _silu(graph: Graph, x: Value) -> Value:
    share: Value = graph.node("Sigmoid", x)
    return x * share


def _gelu_by_tanh(graph: Graph, x: Value) -> Value:
    cubic, root, one, half = (
        graph.constant(name, np.array(value, np.float32))
        for name, value in (
            ("cubic", 0.044715),
            ("root", sqrt(2 / pi)),
            ("one", 1),
            ("half", 0.5),
        )
    )
    turned: Value = graph.node("Tanh", (x + x * x * x * cubic) * root)
    return x * (turned + one) * half
