"""C + A·B as ONNX's Gemm, or MatMulInteger and an addition for int8."""

import numpy as np

from deepbench_ops.backends.families import gemm
from deepbench_ops.backends.families.gemm import GemmInputs
from deepbench_ops.backends.onnx_models.graph import Graph, OnnxModel
from deepbench_ops.problems.gemm import Gemm


def model(problem: Gemm, drawn: GemmInputs, precision: str, operation: str) -> OnnxModel:
    """Return the transposed product of the operands in their memory order, all of them inputs."""
    stored, graph = gemm.row_major(problem, drawn), Graph()
    b, a, c = (graph.input(name, getattr(stored, name)) for name in "bac")
    if precision == "int8":
        b = graph.node("Transpose", b, perm=[1, 0]) if problem.b_transposed else b
        a = graph.node("Transpose", a, perm=[1, 0]) if problem.a_transposed else a
        output = graph.node("MatMulInteger", b, a) + c
        route = "MatMulInteger and Add, Transpose where the published operand is transposed"
    else:
        turned = {"transA": int(problem.b_transposed), "transB": int(problem.a_transposed)}
        output, route = graph.node("Gemm", b, a, c, **turned), "Gemm, all of it fed"
    return OnnxModel(
        serialised=graph.serialised({output: (stored.c.dtype, stored.c.shape)}),
        feeds=graph.feeds,
        read=lambda outputs: np.asarray(outputs[0]).T,
        notes={"route": f"ONNX {route}"},
    )
