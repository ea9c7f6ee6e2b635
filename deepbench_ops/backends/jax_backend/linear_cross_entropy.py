"""Cross-entropy with its linear layer in jax, as its users write it."""

from typing import Any

import jax
import jax.numpy as jnp

from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.jax_backend import differentiable
from deepbench_ops.backends.jax_backend.device import JaxDevice
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.linear_cross_entropy import LinearCrossEntropy
from deepbench_ops.problems.selections import FUSED


def function(
    backend: JaxDevice, problem: LinearCrossEntropy, drawn: Operands, precision: str, operation: str
) -> Function:
    """Return the forward or backward pass; raise Unsupported for the fused operations."""
    if operation.startswith(FUSED):
        raise Unsupported("jax has no single operation for linear layer and cross-entropy")
    exactness = backend.precision_of_products(precision)

    def loss(x: Any, weight: Any, targets: Any) -> Any:
        logits = jnp.matmul(x, weight.T, precision=exactness).astype(jnp.float32)
        found = jnp.take_along_axis(jax.nn.log_softmax(logits), targets[:, None], axis=-1)
        return -jnp.mean(found)

    route = "jnp.matmul, then jax.nn.log_softmax in float32, jnp.take_along_axis, jnp.mean"
    return differentiable.function(
        backend, problem, drawn, precision, operation, loss, route, keeping=True
    )
