"""RMSNorm in jax, as its users write it: in float32, then rounded to the type of x."""

from typing import Any

import jax.numpy as jnp
from jax import lax

from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.families.rms_norm import EPSILON
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.jax_backend import differentiable
from deepbench_ops.backends.jax_backend.device import JaxDevice
from deepbench_ops.problems.rms_norm import RmsNorm


def function(
    backend: JaxDevice, problem: RmsNorm, drawn: Operands, precision: str, operation: str
) -> Function:
    """Return the forward or backward pass, with its operands bound."""
    route = "x * lax.rsqrt(jnp.mean(x * x) + eps) * w in float32"

    def normalise(x: Any, weight: Any) -> Any:
        wide = x.astype(jnp.float32)
        scale = lax.rsqrt(jnp.mean(wide * wide, -1, keepdims=True) + EPSILON)
        return (wide * scale * weight.astype(jnp.float32)).astype(x.dtype)

    def added(x: Any, weight: Any, residual: Any) -> Any:
        total = x + residual
        return normalise(total, weight), total

    compute = added if problem.added else normalise
    return differentiable.function(backend, problem, drawn, precision, operation, compute, route)
