"""Linear layers in jax: a compiled dot_general, with transposes as options of the product."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from deepbench_ops.backends.families.linear_layer import BIAS_OUTPUT, LinearInputs
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.jax_backend.device import JaxDevice
from deepbench_ops.problems.linear_layer import LinearLayer


def function(
    backend: JaxDevice, problem: LinearLayer, drawn: LinearInputs, precision: str, operation: str
) -> Function:
    """Return a layer or one of its gradients."""
    exactness = backend.precision_of_products(precision)

    def product(left: Any, right: Any, axes: tuple[int, int]) -> Any:
        contracted = (((axes[0],), (axes[1],)), ((), ()))
        sums = backend.type_of_sums(precision, left.shape[1 - axes[0]], right.shape[1 - axes[1]])
        return lax.dot_general(
            left, right, contracted, precision=exactness, preferred_element_type=sums
        ).astype(left.dtype)

    def forward(x: Any, weight: Any, *bias: Any) -> Any:
        y = product(x, weight, (1, 1))
        return y + bias[0] if bias else y

    def backward_input(gradient: Any, weight: Any) -> Any:
        return product(gradient, weight, (1, 0))

    def backward_weight(gradient: Any, x: Any) -> Any:
        found = product(gradient, x, (0, 0))
        if not problem.bias:
            return found
        return found, jnp.sum(gradient, 0, dtype=jnp.float32).astype(gradient.dtype)

    if operation == "forward":
        operands = (drawn.x, drawn.weight, *(() if drawn.bias is None else (drawn.bias,)))
        called: Any = forward
    elif operation == "backward_input":
        operands, called = (drawn.gradient, drawn.weight), backward_input
    else:
        operands, called = (drawn.gradient, drawn.x), backward_weight
    several = operation == "backward_weight" and problem.bias
    return Function(
        compile=backend.compiled(called, backend.arrays(precision, *operands)),
        read=lambda output: np.asarray(output[0] if several else output),
        further={BIAS_OUTPUT: lambda output: np.asarray(output[1])[:, None]} if several else {},
        notes={"route": "jax.jit of lax.dot_general"},
    )
