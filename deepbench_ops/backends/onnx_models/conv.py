"""Forward convolutions as ONNX's Conv, or ConvInteger for int8; the filters are constants."""

from typing import Any

import numpy as np

from deepbench_ops.backends.families import conv
from deepbench_ops.backends.families.conv import ConvInputs
from deepbench_ops.backends.onnx_models.graph import Graph, OnnxModel
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.conv import Conv

SHIFT = 128
"""Zero point of int8 images, which are inputs as unsigned bytes."""


def model(problem: Conv, drawn: ConvInputs, precision: str, operation: str) -> OnnxModel:
    """Return the forward pass; raise Unsupported for gradients."""
    if operation != "forward":
        raise Unsupported("ONNX is a format of trained networks: it has no backward passes")
    p, graph = problem, Graph()
    sizes: dict[str, Any] = {"pads": [p.pad_h, p.pad_w] * 2, "strides": [p.stride_h, p.stride_w]}
    filters = graph.constant("filters", drawn.filters)
    if precision == "int8":
        unsigned = np.bitwise_xor(drawn.images.view(np.uint8), np.uint8(SHIFT))
        zero = graph.constant("zero_point", np.array(SHIFT, np.uint8))
        output = graph.node("ConvInteger", graph.input("images", unsigned), filters, zero, **sizes)
        dtype = np.dtype(np.int32)
        route = "ConvInteger, images as unsigned bytes with zero point 128"
    else:
        output = graph.node("Conv", graph.input("images", drawn.images), filters, **sizes)
        dtype, route = drawn.images.dtype, "Conv"
    return OnnxModel(
        serialised=graph.serialised({output: (dtype, (p.n, p.k, p.p, p.q))}),
        feeds=graph.feeds,
        read=lambda outputs: np.asarray(outputs[0]),
        notes={
            "layout": conv.LAYOUT_NOTES["published"],
            "route": f"ONNX {route}, filters constant and packed beforehand",
        },
    )
