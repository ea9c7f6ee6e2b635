"""LayerNorm in jax, as its users write it: in float32, then rounded to the type of x."""

from typing import Any

import jax.numpy as jnp
from jax import lax

from deepbench_ops.backends.families.layer_norm import EPSILON
from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.jax_backend import differentiable
from deepbench_ops.backends.jax_backend.device import JaxDevice
from deepbench_ops.problems.layer_norm import LayerNorm


def function(
    backend: JaxDevice, problem: LayerNorm, drawn: Operands, precision: str, operation: str
) -> Function:
    """Return the forward or backward pass, with its operands bound."""
    route = "(x - jnp.mean(x)) * lax.rsqrt(jnp.var(x) + eps) * w + b in float32"

    def normalise(x: Any, weight: Any, bias: Any) -> Any:
        wide, w, b = (each.astype(jnp.float32) for each in (x, weight, bias))
        off = wide - jnp.mean(wide, -1, keepdims=True)
        scale = lax.rsqrt(jnp.var(wide, -1, keepdims=True) + EPSILON)
        return (off * scale * w + b).astype(x.dtype)

    return differentiable.function(backend, problem, drawn, precision, operation, normalise, route)
