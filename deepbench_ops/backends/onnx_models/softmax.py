"""Softmax as ONNX's operator Softmax, over the last axis."""

from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.onnx_models import forward
from deepbench_ops.backends.onnx_models.graph import Graph, OnnxModel, Value
from deepbench_ops.problems.softmax import Softmax


def model(problem: Softmax, drawn: Operands, precision: str, operation: str) -> OnnxModel:
    """Return the forward pass."""

    def build(graph: Graph, x: Value) -> Value:
        found: Value = graph.node("Softmax", x, axis=-1)
        return found

    shapes = {"": (problem.batch, problem.columns)}
    return forward.model(drawn, operation, build, shapes, "Softmax over the last axis")
