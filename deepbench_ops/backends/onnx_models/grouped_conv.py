"""Forward convolutions in groups as ONNX's Conv; the filters are constants."""

from typing import Any

import numpy as np

from deepbench_ops.backends.families.grouped_conv import GroupedConvInputs
from deepbench_ops.backends.onnx_models.graph import Graph, OnnxModel
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.grouped_conv import GroupedConv


def model(
    problem: GroupedConv, drawn: GroupedConvInputs, precision: str, operation: str
) -> OnnxModel:
    """Return the forward pass; raise Unsupported for gradients."""
    if operation != "forward":
        raise Unsupported("ONNX is a format of trained networks: it has no backward passes")
    p, graph = problem, Graph()
    sizes: dict[str, Any] = {
        "pads": [p.pad] * 4,
        "strides": [p.stride] * 2,
        "group": p.groups,
    }
    images = graph.input("images", drawn.images)
    output = graph.node("Conv", images, graph.constant("filters", drawn.filters), **sizes)
    shape = (p.n, p.k, p.each.p, p.each.q)
    return OnnxModel(
        serialised=graph.serialised({output: (drawn.images.dtype, shape)}),
        feeds=graph.feeds,
        read=lambda outputs: np.asarray(outputs[0]),
        notes={
            "layout": "NCHW, filters KCRS: ONNX describes no other, and a runtime lays out by"
            " itself",
            "route": "ONNX Conv with group, filters constant and packed beforehand",
        },
    )
