"""Embedding bags as ONNX's Gather and ReduceSum, with the table as input."""

import numpy as np

from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.onnx_models import forward
from deepbench_ops.backends.onnx_models.graph import Graph, OnnxModel, Value
from deepbench_ops.problems.embedding_bag import EmbeddingBag


def model(problem: EmbeddingBag, drawn: Operands, precision: str, operation: str) -> OnnxModel:
    """Return the forward pass."""

    def build(graph: Graph, rows: Value, bags: Value) -> Value:
        axis = graph.constant("axis", np.array([1], np.int64))
        found = graph.node("Gather", rows, bags, axis=0)

        def total(found: Value) -> Value:
            made: Value = graph.node("ReduceSum", found, axis, keepdims=0)
            return made

        return forward.in_float32(graph, found, precision, total)

    shapes = {"": (problem.bags, problem.size)}
    return forward.model(drawn, operation, build, shapes, "Gather, ReduceSum in float32")
