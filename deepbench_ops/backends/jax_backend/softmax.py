"""Softmax in jax: jax.nn.softmax in float32, then rounded to the type of x."""

from typing import Any

import jax
import jax.numpy as jnp

from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.jax_backend import differentiable
from deepbench_ops.backends.jax_backend.device import JaxDevice
from deepbench_ops.problems.softmax import Softmax


def function(
    backend: JaxDevice, problem: Softmax, drawn: Operands, precision: str, operation: str
) -> Function:
    """Return the forward or backward pass, with its operands bound."""

    def over_rows(x: Any) -> Any:
        return jax.nn.softmax(x.astype(jnp.float32), axis=-1).astype(x.dtype)

    route = "jax.nn.softmax in float32"
    return differentiable.function(backend, problem, drawn, precision, operation, over_rows, route)
