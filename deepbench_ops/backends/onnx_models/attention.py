"""Attention as ONNX's operator Attention (opset 23 and later), which has no gradient.

Earlier releases of onnxruntime have operators of their own. OpenVINO's own operator is taken in all
of its releases, so that the points of a line are of one route.
"""

from typing import Any

import numpy as np

from deepbench_ops.backends.families import attention
from deepbench_ops.backends.families.attention import AttentionInputs
from deepbench_ops.backends.onnx_models import microsoft_attention, openvino_attention
from deepbench_ops.backends.onnx_models.graph import Graph, OnnxModel
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.attention import FORCED

OPSET, IR_VERSION = 23, 11
"""Versions of 2025; older releases of runtimes cannot read the model."""

OTHERWISE = {"onnxruntime": microsoft_attention.model}
"""Models for releases of a runtime that cannot read `model`."""

OWN = {"openvino": openvino_attention.model}
"""Models with a runtime's own operator, which it takes in all releases."""


def model(problem: Any, drawn: AttentionInputs, precision: str, operation: str) -> OnnxModel:
    """Return attention with all operands as inputs.

    ONNX's `is_causal` lets the first query see the first key only. For fewer queries than keys the
    mask is therefore an input. The values of latent attention are cut out of the keys in the graph.

    Raises Unsupported for a gradient, and for an operation that names an implementation.
    """
    if operation == "backward":
        raise Unsupported("ONNX describes no gradient of attention")
    if operation in FORCED:
        raise Unsupported(f"ONNX names no {FORCED[operation]} implementation of attention")
    graph = Graph(OPSET, IR_VERSION)
    given = [graph.input(name, getattr(drawn, name)) for name in "qk"]
    latent = problem.latent
    given.append(given[1][:, : problem.dv] if latent else graph.input("v", drawn.v))
    square = problem.sq == problem.skv
    if problem.causal and not square:
        given.append(graph.input("mask", attention.mask(problem.sq, problem.skv)))
    output = graph.node("Attention", *given, is_causal=int(problem.causal and square))
    shape = (problem.b, problem.hq, problem.sq, problem.dv)
    return OnnxModel(
        serialised=graph.serialised({output: (drawn.q.dtype, shape)}),
        feeds=graph.feeds,
        read=lambda found: np.asarray(found[0]),
        notes={"route": "ONNX Attention of opset 23", "layout": "(batch, head, token, number)"},
    )
