"""Convolutions in groups in jax: conv_general_dilated, and its transposes for the gradients."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from deepbench_ops.backends.families import conv
from deepbench_ops.backends.families.grouped_conv import GroupedConvInputs
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.jax_backend.device import JaxDevice
from deepbench_ops.problems.grouped_conv import GroupedConv

AXES = ("NHWC", "OHWI", "NHWC")
ROUTE = "jax.jit of lax.conv_general_dilated with feature_group_count"


def function(
    backend: JaxDevice,
    problem: GroupedConv,
    drawn: GroupedConvInputs,
    precision: str,
    operation: str,
) -> Function:
    """Return one pass.

    The gradients are the transposes of the forward pass, which is linear in each operand.
    """
    p = problem
    options: dict[str, Any] = {
        "window_strides": (p.stride, p.stride),
        "padding": ((p.pad, p.pad), (p.pad, p.pad)),
        "dimension_numbers": AXES,
        "feature_group_count": p.groups,
        "precision": backend.precision_of_products(precision),
    }

    def array(values: np.ndarray) -> Any:
        return backend.array(conv.channels_last_copy(values), precision)

    def convolve(images: Any, filters: Any) -> Any:
        return lax.conv_general_dilated(images, filters, **options)

    images, filters = array(drawn.images), array(drawn.filters)

    def into_images(gradient: Any, filters: Any) -> Any:
        return jax.linear_transpose(lambda x: convolve(x, filters), images)(gradient)[0]

    def into_filters(gradient: Any, seen: Any) -> Any:
        return jax.linear_transpose(lambda x: convolve(seen, x), filters)(gradient)[0]

    if operation == "forward":
        compiled = backend.compiled(convolve, (images, filters))
    elif operation == "backward_data":
        compiled = backend.compiled(into_images, (array(drawn.gradient), filters))
    else:
        compiled = backend.compiled(into_filters, (array(drawn.gradient), images))
    turned = "" if operation == "forward" else ", transposed by jax.linear_transpose"
    return Function(
        compile=compiled,
        read=lambda output: np.asarray(output.astype(jnp.float32)).transpose(0, 3, 1, 2),
        notes={"route": f"{ROUTE}{turned}"},
    )
