"""Linear attention in jax: lax.scan over the tokens, in float32."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from deepbench_ops.backends.families import linear_attention
from deepbench_ops.backends.families.linear_attention import STATE
from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.jax_backend import differentiable
from deepbench_ops.backends.jax_backend.device import JaxDevice
from deepbench_ops.problems.linear_attention import LinearAttention


def function(
    backend: JaxDevice, problem: LinearAttention, drawn: Operands, precision: str, operation: str
) -> Function:
    """Return the forward pass, with its operands bound."""
    scale = linear_attention.scale(problem)
    group = problem.value_heads // problem.heads
    names = [name for name in drawn.of(operation) if name != STATE]
    given = differentiable.arrays(backend, drawn, precision, operation)
    given[STATE] = backend.array(drawn[STATE], "float32")

    def step(state: Any, token: Any) -> Any:
        one = dict(zip(names, token, strict=True))
        query, key = (
            jnp.repeat(one[name], group, axis=1)[..., None] for name in ("queries", "keys")
        )
        value = one["values"]
        state = state * jnp.exp(one["decays"])[..., None, None]
        if "rates" in one:
            value = (value - (state * key).sum(-2)) * one["rates"][..., None]
        state = state + key * value[..., None, :]
        return state, (state * query).sum(-2) * scale

    def forward(state: Any, *tokens: Any) -> Any:
        by_token = tuple(jnp.moveaxis(each, 1, 0).astype(jnp.float32) for each in tokens)
        state, outputs = lax.scan(step, state, by_token)
        return jnp.moveaxis(outputs, 0, 1).astype(tokens[0].dtype), state

    operands = (given[STATE], *(given[name] for name in names))
    return Function(
        compile=backend.compiled(forward, operands),
        read=lambda output: np.asarray(output[0]),
        further={STATE: lambda output: np.asarray(output[1])},
        notes={"route": "jax.jit of lax.scan over tokens, elementwise products and sums"},
    )
