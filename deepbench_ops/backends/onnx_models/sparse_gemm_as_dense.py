"""The dense product of a sparse problem as ONNX's Gemm; ONNX has no sparse product."""

import numpy as np

from deepbench_ops.backends.families.sparse_gemm import SparseInputs, layout_note
from deepbench_ops.backends.onnx_models.graph import Graph, OnnxModel
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.sparse_gemm import SparseGemm

LACKING = {
    "forward": "ONNX has no product with compressed rows",
    "conversion": "ONNX has no operator that makes compressed rows of a matrix",
}


def model(problem: SparseGemm, drawn: SparseInputs, precision: str, operation: str) -> OnnxModel:
    """Return the dense product, transposed as for GEMM; raise Unsupported for other operations."""
    if operation in LACKING:
        raise Unsupported(LACKING[operation])
    if precision == "int8":
        raise Unsupported("ONNX's Gemm has no int8, and there is no sparse product to compare with")
    graph = Graph()
    a = drawn.a.dense()
    b_transposed, a_transposed = problem.b_transposed, problem.a_transposed
    left = graph.input("b", drawn.b if b_transposed else drawn.b.T)
    # A is stored column-major, so its memory is the row-major transpose.
    right = graph.input("a", a.T)
    output = graph.node("Gemm", left, right, transA=int(b_transposed), transB=int(a_transposed))
    return OnnxModel(
        serialised=graph.serialised({output: (drawn.b.dtype, (problem.n, problem.m))}),
        feeds=graph.feeds,
        read=lambda outputs: np.asarray(outputs[0]).T,
        notes={
            "layout": layout_note(problem, compressed=False, order="column-major"),
            "route": "ONNX Gemm without C, all of it fed",
        },
    )
