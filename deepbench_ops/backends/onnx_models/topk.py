"""Top-k as ONNX's operator TopK, with constant k."""

from collections.abc import Sequence

import numpy as np

from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.families.topk import checked_values
from deepbench_ops.backends.onnx_models.graph import Graph, OnnxModel
from deepbench_ops.problems.topk import TopK


def model(problem: TopK, drawn: Operands, precision: str, operation: str) -> OnnxModel:
    """Return top-k, the only operation."""
    graph = Graph()
    x = drawn["x"]
    k = graph.constant("k", np.array([problem.k], np.int64))
    values, columns = graph.node("TopK", graph.input("x", x), k, outputs=2, axis=-1)
    shape = (problem.batch, problem.k)

    def read(outputs: Sequence[np.ndarray]) -> np.ndarray:
        return checked_values(x, *outputs)

    return OnnxModel(
        serialised=graph.serialised({values: (x.dtype, shape), columns: (np.int64, shape)}),
        feeds=graph.feeds,
        read=read,
        notes={"route": "ONNX TopK, k constant"},
    )
