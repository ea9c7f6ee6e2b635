"""Convolutions in TensorFlow: Conv2D and its two gradients, with filters in the order RSCK."""

from collections.abc import Callable
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import tensorflow as tf

from deepbench_ops.backends.families.conv import ConvInputs, channels_last_copy
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.tensorflow_backend.device import TensorFlowDevice
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.conv import Conv
from deepbench_ops.random_operands import aligned_empty

LAYOUT_NOTES = {
    "published": "NCHW, filters RSCK",
    "channels_last": "channels last: NHWC, filters RSCK",
}
INT8_REASON = (
    "tensorflow has no int8 convolution that returns 32-bit sums: its quantised convolution takes"
    " ranges of floats and rounds to them"
)


def function(
    backend: TensorFlowDevice, problem: Conv, drawn: ConvInputs, precision: str, operation: str
) -> Function:
    """Return one pass; raise Unsupported for int8, and for gradients in NCHW."""
    if precision == "int8":
        raise Unsupported(INT8_REASON)
    p, last = problem, backend.layout == "channels_last"
    if operation != "forward" and not last:
        raise Unsupported(
            "tensorflow has the gradients of convolutions in NHWC only on the cpu: measure them"
            " with DEEPBENCH_LAYOUT=channels_last"
        )

    def outside(pair: list[Any], nothing: Any) -> list[Any]:
        """Return a list for all four axes from values for height and width, else `nothing`."""
        return [nothing, *pair, nothing] if last else [nothing, nothing, *pair]

    options: dict[str, Any] = {
        "strides": outside([p.stride_h, p.stride_w], 1),
        "padding": "EXPLICIT",
        "explicit_paddings": [*chain(*outside([[p.pad_h] * 2, [p.pad_w] * 2], [0, 0]))],
        "data_format": "NHWC" if last else "NCHW",
    }

    def tensor(values: np.ndarray) -> Any:
        return backend.tensor(channels_last_copy(values) if last else values, precision)

    images, filters = tensor(drawn.images), backend.tensor(_stored(drawn.filters), precision)
    compute: Callable[..., Any]
    operands: tuple[Any, ...]
    if operation == "forward":
        name, operands = "Conv2D", (images, filters)
        compute = partial(_forward, options)
    elif operation == "backward_data":
        name, operands = "Conv2DBackpropInput", (filters, tensor(drawn.gradient))
        compute = partial(_into_images, options, list(images.shape))
    else:
        name, operands = "Conv2DBackpropFilter", (images, tensor(drawn.gradient))
        compute = partial(_into_filters, options, list(filters.shape))

    def read(output: Any) -> np.ndarray:
        found: np.ndarray = output.numpy()
        if operation == "backward_weights":
            return found.transpose(3, 2, 0, 1)
        return found.transpose(0, 3, 1, 2) if last else found

    return Function(
        compile=backend.compiled(compute, operands),
        read=read,
        notes={"layout": LAYOUT_NOTES[backend.layout], "route": f"tf.function of {name}"},
    )


def _forward(options: dict[str, Any], images: Any, filters: Any) -> Any:
    return tf.raw_ops.Conv2D(input=images, filter=filters, **options)


def _into_images(options: dict[str, Any], sizes: list[int], filters: Any, gradient: Any) -> Any:
    return tf.raw_ops.Conv2DBackpropInput(
        input_sizes=sizes, filter=filters, out_backprop=gradient, **options
    )


def _into_filters(options: dict[str, Any], sizes: list[int], images: Any, gradient: Any) -> Any:
    return tf.raw_ops.Conv2DBackpropFilter(
        input=images, filter_sizes=sizes, out_backprop=gradient, **options
    )


def _stored(filters: np.ndarray) -> np.ndarray:
    """Return a copy of filters (k, c, r, s) as (r, s, c, k)."""
    swapped = filters.transpose(2, 3, 1, 0)
    copy = aligned_empty(swapped.shape, filters.dtype)
    copy[...] = swapped
    return copy
