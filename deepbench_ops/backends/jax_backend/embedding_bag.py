"""Embedding bags in jax: jnp.take along the rows, and sums in float32."""

from typing import Any

import jax.numpy as jnp

from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.jax_backend import differentiable
from deepbench_ops.backends.jax_backend.device import JaxDevice
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.embedding_bag import EmbeddingBag


def function(
    backend: JaxDevice, problem: EmbeddingBag, drawn: Operands, precision: str, operation: str
) -> Function:
    """Return the forward or backward pass; raise Unsupported for gradients in 16 bits."""
    if operation == "backward" and precision != "float32":
        raise Unsupported(f"jax adds up the gradients of a row in {precision}, not in 32 bits")

    def sums(rows: Any, bags: Any) -> Any:
        found = jnp.take(rows, bags, axis=0).astype(jnp.float32)
        return jnp.sum(found, axis=1).astype(rows.dtype)

    route = "jnp.take(axis=0), jnp.sum in float32"
    return differentiable.function(backend, problem, drawn, precision, operation, sums, route)
