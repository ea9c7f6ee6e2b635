"""Cross-entropy in jax, as its users write it with jax.nn.log_softmax."""

from typing import Any

import jax
import jax.numpy as jnp

from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.jax_backend import differentiable
from deepbench_ops.backends.jax_backend.device import JaxDevice
from deepbench_ops.problems.cross_entropy import CrossEntropy


def function(
    backend: JaxDevice, problem: CrossEntropy, drawn: Operands, precision: str, operation: str
) -> Function:
    """Return the forward or backward pass, with its operands bound."""

    def loss(logits: Any, targets: Any) -> Any:
        found = jnp.take_along_axis(jax.nn.log_softmax(logits), targets[:, None], axis=-1)
        return -jnp.mean(found)

    route = "jax.nn.log_softmax, jnp.take_along_axis, jnp.mean"
    return differentiable.function(backend, problem, drawn, precision, operation, loss, route)
