"""KL divergence in jax, as its users write it."""

from typing import Any

import jax.numpy as jnp

from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.jax_backend import differentiable
from deepbench_ops.backends.jax_backend.device import JaxDevice
from deepbench_ops.problems.kl_div import KlDiv


def function(
    backend: JaxDevice, problem: KlDiv, drawn: Operands, precision: str, operation: str
) -> Function:
    """Return the forward or backward pass, with its operands bound."""

    def loss(predicted: Any, wanted: Any) -> Any:
        return jnp.sum(wanted * (jnp.log(wanted) - predicted)) / problem.tokens

    route = "jnp.sum(t * (jnp.log(t) - x)) / tokens"
    return differentiable.function(backend, problem, drawn, precision, operation, loss, route)
