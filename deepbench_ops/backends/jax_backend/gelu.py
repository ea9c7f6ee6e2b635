"""GELU in jax: jax.nn.gelu, its exact form, in float32, then rounded to the type of x."""

from typing import Any

import jax
import jax.numpy as jnp

from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.jax_backend import differentiable
from deepbench_ops.backends.jax_backend.device import JaxDevice
from deepbench_ops.problems.gelu import Gelu


def function(
    backend: JaxDevice, problem: Gelu, drawn: Operands, precision: str, operation: str
) -> Function:
    """Return the forward or backward pass, with its operands bound."""

    def exact_form(x: Any) -> Any:
        return jax.nn.gelu(x.astype(jnp.float32), approximate=False).astype(x.dtype)

    route = "jax.nn.gelu(approximate=False) in float32"
    return differentiable.function(backend, problem, drawn, precision, operation, exact_form, route)
