"""Convolutions in jax: conv_general_dilated, and its transposes for the gradients."""

from typing import Any

import jax
import numpy as np
from jax import lax

from deepbench_ops.backends.families import conv
from deepbench_ops.backends.families.conv import ConvInputs
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.jax_backend.device import JaxDevice
from deepbench_ops.problems.conv import Conv

AXES = {"published": ("NCHW", "OIHW", "NCHW"), "channels_last": ("NHWC", "OHWI", "NHWC")}
"""Order of the axes of images, filters and output, by layout."""

ROUTE = "jax.jit of lax.conv_general_dilated"


def function(
    backend: JaxDevice, problem: Conv, drawn: ConvInputs, precision: str, operation: str
) -> Function:
    """Return one pass, with int32 sums for int8.

    The gradients are the transposes of the forward pass, which is linear in each operand.
    """
    p, last = problem, backend.layout == "channels_last"
    options: dict[str, Any] = {
        "window_strides": (p.stride_h, p.stride_w),
        "padding": ((p.pad_h, p.pad_h), (p.pad_w, p.pad_w)),
        "dimension_numbers": AXES[backend.layout],
        "precision": backend.precision_of_products(precision),
        "preferred_element_type": np.int32 if precision == "int8" else None,
    }

    def array(values: np.ndarray) -> Any:
        return backend.array(conv.channels_last_copy(values) if last else values, precision)

    def convolve(images: Any, filters: Any) -> Any:
        return lax.conv_general_dilated(images, filters, **options)

    images, filters = array(drawn.images), array(drawn.filters)

    def into_images(gradient: Any, filters: Any) -> Any:
        return jax.linear_transpose(lambda x: convolve(x, filters), images)(gradient)[0]

    def into_filters(gradient: Any, seen: Any) -> Any:
        return jax.linear_transpose(lambda x: convolve(seen, x), filters)(gradient)[0]

    if operation == "forward":
        compiled, route = backend.compiled(convolve, (images, filters)), ROUTE
    else:
        route = f"{ROUTE}, transposed by jax.linear_transpose"
        gradient = array(drawn.gradient)
        if operation == "backward_data":
            compiled = backend.compiled(into_images, (gradient, filters))
        else:
            compiled = backend.compiled(into_filters, (gradient, images))

    def read(output: Any) -> np.ndarray:
        found = np.asarray(output)
        return found.transpose(0, 3, 1, 2) if last else found

    return Function(
        compile=compiled,
        read=read,
        notes={"layout": conv.LAYOUT_NOTES[backend.layout], "route": route},
    )
