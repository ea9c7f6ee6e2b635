"""Rotary position embedding in jax, as its users write it."""

from typing import Any

import jax.numpy as jnp

from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.jax_backend import differentiable
from deepbench_ops.backends.jax_backend.device import JaxDevice
from deepbench_ops.problems.rope import Rope


def function(
    backend: JaxDevice, problem: Rope, drawn: Operands, precision: str, operation: str
) -> Function:
    """Return the forward or backward pass, with its operands bound."""

    def turned(x: Any, cosines: Any, sines: Any) -> Any:
        first, second = jnp.split(x, 2, axis=-1)
        return x * cosines + jnp.concatenate((-second, first), axis=-1) * sines

    def rotate(queries: Any, keys: Any, cosines: Any, sines: Any) -> Any:
        return turned(queries, cosines, sines), turned(keys, cosines, sines)

    route = "x * cos + jnp.concatenate((-x2, x1)) * sin, of queries and keys"
    return differentiable.function(backend, problem, drawn, precision, operation, rotate, route)
