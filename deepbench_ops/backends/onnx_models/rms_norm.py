"""RMSNorm as the operators that exporters write, which runtimes replace by a single kernel.

ONNX's own RMSNormalization (opset 23, 2025) is newer than most releases of the runtimes.
"""

from typing import Any

import numpy as np

from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.families.rms_norm import EPSILON, outputs
from deepbench_ops.backends.onnx_models import forward
from deepbench_ops.backends.onnx_models.graph import Graph, OnnxModel, Value
from deepbench_ops.problems.rms_norm import RmsNorm


def model(problem: RmsNorm, drawn: Operands, precision: str, operation: str) -> OnnxModel:
    """Return the forward pass."""

    def build(graph: Graph, x: Value, weight: Value, residual: Value | None = None) -> Any:
        two = graph.constant("two", np.array(2, np.float32))
        epsilon = graph.constant("epsilon", np.array(EPSILON, np.float32))

        def normalise(x: Value) -> Value:
            mean = graph.node("ReduceMean", graph.node("Pow", x, two), axes=[-1], keepdims=1)
            root = graph.node("Sqrt", mean + epsilon)
            found: Value = graph.node("Div", x, root) * weight
            return found

        total = x if residual is None else x + residual
        output = forward.in_float32(graph, total, precision, normalise)
        return output if residual is None else (output, total)

    weight = drawn["weight"].astype(np.float32)
    wide = Operands({**drawn.makers, "weight": lambda: weight}, drawn.notes)
    shapes = dict.fromkeys(outputs(problem, operation), (problem.tokens, problem.hidden))
    route = "Pow, ReduceMean, Add, Sqrt, Div, Mul in float32, weight constant"
    return forward.model(wide, operation, build, shapes, route, ("weight",))
