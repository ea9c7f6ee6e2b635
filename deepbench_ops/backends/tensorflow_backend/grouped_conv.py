"""Convolutions in groups in TensorFlow: one channel in each group, or one group of all channels."""

from typing import Any

import numpy as np
import tensorflow as tf

from deepbench_ops.backends.families.conv import channels_last_copy
from deepbench_ops.backends.families.grouped_conv import GroupedConvInputs
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.tensorflow_backend.device import TensorFlowDevice
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.grouped_conv import GroupedConv

DEPTHWISE, DENSE = "DepthwiseConv2dNative", "Conv2D"
"""Names of operators; those of the gradients begin with them."""

EXACT = {
    (DEPTHWISE, "forward", "bfloat16"),
    (DENSE, "forward", "bfloat16"),
    (DENSE, "forward", "float16"),
}
"""Passes of 16-bit operands that are added up in 32 bits."""


def function(
    backend: TensorFlowDevice,
    problem: GroupedConv,
    drawn: GroupedConvInputs,
    precision: str,
    operation: str,
) -> Function:
    """Return one pass; raise Unsupported for several groups of several channels, and for types in
    which the sums are rounded."""
    p = problem
    if p.groups > 1 and p.each.c > 1:
        raise Unsupported("tensorflow has no convolution in groups of several channels on the cpu")
    name = DEPTHWISE if p.groups > 1 else DENSE
    if precision != "float32" and (name, operation, precision) not in EXACT:
        raise Unsupported(
            f"tensorflow adds up the {operation} of {name} in {precision} on the cpu, not in 32"
            " bits"
        )
    pads = [0, 0, p.pad, p.pad, p.pad, p.pad, 0, 0]
    options: dict[str, Any] = {
        "strides": [1, p.stride, p.stride, 1],
        "padding": "EXPLICIT",
        "explicit_paddings": pads,
        "data_format": "NHWC",
    }
    images = backend.tensor(channels_last_copy(drawn.images), precision)
    filters = backend.tensor(_stored(drawn.filters, p), precision)
    if operation == "forward":
        operands = {"input": images, "filter": filters}
    else:
        gradient = backend.tensor(channels_last_copy(drawn.gradient), precision)
        if operation == "backward_data":
            name += "BackpropInput"
            operands = {"filter": filters, "out_backprop": gradient}
            options["input_sizes"] = list(images.shape)
        else:
            name += "BackpropFilter"
            operands = {"input": images, "out_backprop": gradient}
            options["filter_sizes"] = list(filters.shape)
    operator = getattr(tf.raw_ops, name)

    def compute(*given: Any) -> Any:
        return operator(**dict(zip(operands, given, strict=True)), **options)

    def read(output: Any) -> np.ndarray:
        found: np.ndarray = output.numpy()
        if operation == "backward_weights":
            return _as_drawn(found, p)
        return found.transpose(0, 3, 1, 2)

    return Function(
        compile=backend.compiled(compute, tuple(operands.values())),
        read=read,
        notes={
            "route": f"tf.function of {name}",
            "layout": "channels last: NHWC, filters R, S, channel, filter of the channel",
        },
    )


def _stored(filters: np.ndarray, p: GroupedConv) -> np.ndarray:
    """Return filters (k, c/groups, r, s) as the operators take them: (r, s, c, filters of c)."""
    if p.groups == 1:
        return filters.transpose(2, 3, 1, 0)
    return filters.reshape(p.c, -1, p.r, p.s).transpose(2, 3, 0, 1)


def _as_drawn(stored: np.ndarray, p: GroupedConv) -> np.ndarray:
    """Return filters that lie as in `_stored` with the axes (k, c/groups, r, s)."""
    if p.groups == 1:
        return stored.transpose(3, 2, 0, 1)
    return stored.transpose(2, 3, 0, 1).reshape(p.k, 1, p.r, p.s)
