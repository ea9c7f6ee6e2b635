"""Recurrent layers in jax: the published passes as a lax.scan over the steps, compiled whole."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from deepbench_ops.backends.families import rnn_recurrence
from deepbench_ops.backends.families.rnn import PRODUCT_GRADIENTS
from deepbench_ops.backends.families.rnn_inputs import RnnInputs
from deepbench_ops.backends.families.rnn_recurrence import Functions
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.jax_backend.device import JaxDevice
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.rnn import Rnn


def function(
    backend: JaxDevice, problem: Rnn, drawn: RnnInputs, precision: str, operation: str
) -> Function:
    """Return a published pass; raise Unsupported for fused layers, which jax has on NVIDIA GPUs
    only."""
    if operation.startswith("fused"):
        raise Unsupported("jax has no recurrent layer of its own: users write the steps")
    make = _forward if operation == "forward" else _backward
    return make(backend, drawn, precision)


def _functions(backend: JaxDevice, precision: str) -> Functions:
    exactness = backend.precision_of_products(precision)

    def matmul(left: Any, right: Any) -> Any:
        sums = backend.type_of_sums(precision, left.shape[0], right.shape[1])
        found = jnp.matmul(left, right, precision=exactness, preferred_element_type=sums)
        return found.astype(left.dtype)

    return Functions(
        matmul=matmul,
        sigmoid=jax.nn.sigmoid,
        tanh=jnp.tanh,
        relu=jax.nn.relu,
        sign=jnp.sign,
        joined=lambda parts: jnp.concatenate(parts, axis=-1),
    )


def _forward(backend: JaxDevice, drawn: RnnInputs, precision: str) -> Function:
    problem = drawn.problem
    step = rnn_recurrence.forward_step(problem.cell, problem.hidden, _functions(backend, precision))

    def layer(products: Any, r: Any, *first: Any) -> Any:
        def one(state: Any, x: Any) -> Any:
            state = step(state, x, r)
            return state, state[0]

        return lax.scan(one, first, products)[1]

    operands = (drawn.products, drawn.recurrent, *rnn_recurrence.first_state(drawn))
    return Function(
        compile=backend.compiled(layer, backend.arrays(precision, *operands)),
        read=np.asarray,
        notes={"route": "jax.jit of lax.scan over the steps, one product a step for all gates"},
    )


def _backward(backend: JaxDevice, drawn: RnnInputs, precision: str) -> Function:
    problem = drawn.problem
    cell, size = problem.cell, problem.hidden
    functions = _functions(backend, precision)
    factors = rnn_recurrence.factors(cell, size, functions)
    step = rnn_recurrence.backward_step(cell, functions)

    def layer(upstream: Any, r: Any, *kept: Any) -> Any:
        by = factors(*kept)
        dg, left = step(upstream[-1], jnp.zeros_like(upstream[-1]), tuple(each[-1] for each in by))

        def one(carried: Any, here: Any) -> Any:
            dg, left = carried
            dy, by = here
            dh = dy + functions.matmul(dg, r.T)
            dh = dh + left if cell == "gru" else dh
            dg, left = step(dh, left, by)
            return (dg, left), dg

        before = (upstream[:-1], tuple(each[:-1] for each in by))
        _, others = lax.scan(one, (dg, left), before, reverse=True)
        gradients = jnp.concatenate([others, dg[None]])
        states = kept[0][:-1].reshape(-1, size)
        return functions.matmul(states.T, gradients.reshape(-1, dg.shape[1])), gradients

    operands = (drawn.upstream, drawn.recurrent, *rnn_recurrence.saved_for_backward(drawn))
    return Function(
        compile=backend.compiled(layer, backend.arrays(precision, *operands)),
        read=lambda output: np.asarray(output[0]),
        further={PRODUCT_GRADIENTS: lambda output: np.asarray(output[1])},
        notes={
            "route": "jax.jit of lax.scan over the steps, the gates' factors made beforehand for"
            " all of them; one product over all steps for dR"
        },
    )
