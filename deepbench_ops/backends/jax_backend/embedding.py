"""Embedding in jax: jnp.take along the rows."""

from typing import Any

import jax.numpy as jnp

from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.jax_backend import differentiable
from deepbench_ops.backends.jax_backend.device import JaxDevice
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.embedding import Embedding


def function(
    backend: JaxDevice, problem: Embedding, drawn: Operands, precision: str, operation: str
) -> Function:
    """Return the forward or backward pass; raise Unsupported for gradients in 16 bits."""
    if operation == "backward" and precision != "float32":
        raise Unsupported(f"jax adds up the gradients of a row in {precision}, not in 32 bits")

    def look_up(table: Any, tokens: Any) -> Any:
        return jnp.take(table, tokens, axis=0)

    route = "jnp.take(axis=0)"
    return differentiable.function(backend, problem, drawn, precision, operation, look_up, route)
