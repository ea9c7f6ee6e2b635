"""Linear layers as ONNX's Gemm; the weight is a constant in a forward pass, else an input."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from deepbench_ops.backends.families.linear_layer import BIAS_OUTPUT, LinearInputs
from deepbench_ops.backends.onnx_models.graph import Graph, OnnxModel, Value
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.linear_layer import LinearLayer


def model(problem: LinearLayer, drawn: LinearInputs, precision: str, operation: str) -> OnnxModel:
    """Return a layer or one of its gradients.

    The weight of a forward pass is a constant, as in the models of users, and a runtime may
    rearrange it for its products when it compiles the model.

    Raises Unsupported for a weight of 2 GiB or more.
    """
    graph = Graph()
    if operation == "forward":
        if drawn.weight.nbytes > LARGEST_CONSTANT:
            raise Unsupported("a weight of 2 GiB or more does not fit into an ONNX model")
        x, weight = graph.input("x", drawn.x), graph.constant("weight", drawn.weight)
        bias = [] if drawn.bias is None else [graph.constant("bias", drawn.bias)]
        output, shape = graph.node("Gemm", x, weight, *bias, transB=1), (problem.m, problem.n)
        route = "ONNX Gemm, weight constant"
    elif operation == "backward_input":
        gradient, weight = (graph.input(name, getattr(drawn, name)) for name in GRADIENT_OF_X)
        output, shape = graph.node("Gemm", gradient, weight), (problem.m, problem.k)
        route = "ONNX Gemm, all of it fed"
    else:
        gradient, x = (graph.input(name, getattr(drawn, name)) for name in GRADIENT_OF_WEIGHT)
        output, shape = graph.node("Gemm", gradient, x, transA=1), (problem.n, problem.k)
        route = "ONNX Gemm, all of it fed"
    outputs: dict[Value, tuple[Any, Sequence[int]]] = {output: (drawn.x.dtype, shape)}
    further = {}
    if operation == "backward_weight" and problem.bias:
        axis = graph.constant("axis", np.array([0], np.int64))
        outputs[graph.node("ReduceSum", gradient, axis, keepdims=0)] = (drawn.x.dtype, (problem.n,))
        further[BIAS_OUTPUT] = lambda found: np.asarray(found[1])[:, None]
        route += ", and ReduceSum"
    return OnnxModel(
        serialised=graph.serialised(outputs),
        feeds=graph.feeds,
        read=lambda found: np.asarray(found[0]),
        notes={"route": route},
        further=further,
    )


LARGEST_CONSTANT = 2**31 - 2**20
"""Largest size of a constant in bytes: a model is a protobuf message, which has at most 2 GiB."""

GRADIENT_OF_X = ("gradient", "weight")
GRADIENT_OF_WEIGHT = ("gradient", "x")
"""Names of the operands of each gradient."""
