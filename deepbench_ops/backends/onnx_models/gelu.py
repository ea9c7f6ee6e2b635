"""GELU as the operators that exporters write, which runtimes replace by a single kernel.

ONNX's own Gelu (opset 20, 2023) is newer than many releases of the runtimes.
"""

from math import sqrt

import numpy as np

from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.onnx_models import forward
from deepbench_ops.backends.onnx_models.graph import Graph, OnnxModel, Value
from deepbench_ops.problems.gelu import Gelu


def model(problem: Gelu, drawn: Operands, precision: str, operation: str) -> OnnxModel:
    """Return the forward pass."""

    def build(graph: Graph, x: Value) -> Value:
        root, one, half = (
            graph.constant(name, np.array(value, np.float32))
            for name, value in (("root", sqrt(2)), ("one", 1), ("half", 0.5))
        )

        def activation(x: Value) -> Value:
            turned: Value = graph.node("Erf", graph.node("Div", x, root))
            return x * (turned + one) * half

        return forward.in_float32(graph, x, precision, activation)

    shapes = {"": (problem.batch, problem.columns)}
    return forward.model(drawn, operation, build, shapes, "Div, Erf, Add, Mul, Mul in float32")
