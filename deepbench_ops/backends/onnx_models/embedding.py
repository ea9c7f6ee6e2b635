"""Embedding as ONNX's Gather, with the table as input."""

from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.onnx_models import forward
from deepbench_ops.backends.onnx_models.graph import Graph, OnnxModel, Value
from deepbench_ops.problems.embedding import Embedding


def model(problem: Embedding, drawn: Operands, precision: str, operation: str) -> OnnxModel:
    """Return the forward pass."""

    def build(graph: Graph, table: Value, tokens: Value) -> Value:
        found: Value = graph.node("Gather", table, tokens, axis=0)
        return found

    shapes = {"": (problem.tokens, problem.size)}
    return forward.model(drawn, operation, build, shapes, "Gather of rows of a table that is fed")
