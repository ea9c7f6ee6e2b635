"""A gated MLP in jax: three products, jax.nn.silu or jax.nn.gelu by tanh, and a product."""

from typing import Any

import jax
import jax.numpy as jnp

from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.jax_backend import differentiable
from deepbench_ops.backends.jax_backend.device import JaxDevice
from deepbench_ops.problems.gated_mlp import GatedMlp


def function(
    backend: JaxDevice, problem: GatedMlp, drawn: Operands, precision: str, operation: str
) -> Function:
    """Return the forward or backward pass, with its operands bound."""
    silu = problem.activation == "swiglu"
    exactness = backend.precision_of_products(precision)

    def product(left: Any, right: Any) -> Any:
        return jnp.matmul(left, right.T, precision=exactness)

    def activation(x: Any) -> Any:
        wide = x.astype(jnp.float32)
        made = jax.nn.silu(wide) if silu else jax.nn.gelu(wide, approximate=True)
        return made.astype(x.dtype)

    def mlp(x: Any, gate: Any, up: Any, down: Any) -> Any:
        return product(activation(product(x, gate)) * product(x, up), down)

    route = "jnp.matmul, jax.nn.silu or gelu in float32"
    return differentiable.function(
        backend, problem, drawn, precision, operation, mlp, route, keeping=True
    )
