"""Mixture-of-experts layers in jax: tokens sorted by expert and lax.ragged_dot_general."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from deepbench_ops.backends.families import moe_gradients
from deepbench_ops.backends.families.moe_layer import MoeInputs
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.jax_backend.device import JaxDevice
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.moe_layer import MoeLayer


def function(
    backend: JaxDevice, problem: MoeLayer, drawn: MoeInputs, precision: str, operation: str
) -> Function:
    """Return the forward or backward pass; raise Unsupported without ragged_dot_general."""
    if not hasattr(lax, "ragged_dot_general"):
        raise Unsupported("this release of jax has no lax.ragged_dot_general")
    by_expert = lax.RaggedDotDimensionNumbers(
        dot_dimension_numbers=(((1,), (2,)), ((), ())),
        lhs_ragged_dimensions=[0],
        rhs_group_dimensions=[0],
    )
    exactness = backend.precision_of_products(precision)
    top_k, experts = problem.top_k, problem.experts

    def products(rows: Any, w: Any, loads: Any) -> Any:
        return lax.ragged_dot_general(rows, w, loads, by_expert, precision=exactness)

    def layer(x: Any, router: Any, up: Any, down: Any, *gate: Any) -> Any:
        logits = jnp.matmul(x, router.T, precision=exactness)
        taken, chosen = lax.top_k(logits, top_k)
        weights = jax.nn.softmax(taken.astype(jnp.float32), axis=1)
        owner = chosen.reshape(-1)
        order = jnp.argsort(owner, stable=True)
        loads = jnp.bincount(owner, length=experts).astype(jnp.int32)
        tokens = order // top_k
        rows = x[tokens]
        hidden = products(rows, up, loads)
        if gate:
            hidden = jax.nn.silu(products(rows, gate[0], loads)) * hidden
        else:
            hidden = jnp.square(jax.nn.relu(hidden))
        each = products(hidden, down, loads).astype(jnp.float32)
        each = each * weights.reshape(-1)[order][:, None]
        return jnp.zeros(x.shape, jnp.float32).at[tokens].add(each).astype(x.dtype)

    names = moe_gradients.names(problem)
    held = backend.arrays(precision, *(getattr(drawn, each) for each in names.values()))
    notes = {
        "route": "jax.jit of lax.top_k, argsort by expert, lax.ragged_dot_general for all matrices"
        " and a scattered addition; without a ragged kernel, as on the CPU, XLA multiplies all rows"
        " with every expert and adds what is masked"
    }
    if operation == "forward":
        return Function(
            compile=backend.compiled(layer, held),
            read=lambda output: np.asarray(output.astype(jnp.float32)),
            notes=notes,
        )
    _, pull = jax.vjp(layer, *held)
    kept, tree = jax.tree_util.tree_flatten(pull)

    def backward(dy: Any, *kept: Any) -> Any:
        return jax.tree_util.tree_unflatten(tree, kept)(dy)

    def reader(place: int) -> Any:
        return lambda output: np.asarray(output[place].astype(jnp.float32))

    readers = {each: reader(place) for place, each in enumerate(names)}
    return Function(
        compile=backend.compiled(backward, (backend.array(drawn.gradient, precision), *kept)),
        read=readers.pop(""),
        further=readers,
        notes={"route": f"jax.vjp, its forward pass run before, of {notes['route']}"},
    )
