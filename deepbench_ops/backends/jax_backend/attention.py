"""Attention in jax: jax.nn.dot_product_attention, and its gradients by jax.vjp."""

from typing import Any

import jax
import numpy as np

from deepbench_ops.backends.families import attention
from deepbench_ops.backends.families.attention import KEY_GRADIENT, VALUE_GRADIENT, AttentionInputs
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.jax_backend.device import JaxDevice
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.attention import FORCED, is_backward

IMPLEMENTATIONS = {"math": "xla", "cuDNN": "cudnn"}
"""jax's names of the implementations that a caller can choose, by the names in `FORCED`."""

LAYOUT = "(batch, token, head, number)"
"""Note for the record on the layout of operands and output."""


def function(
    backend: JaxDevice, problem: Any, drawn: AttentionInputs, precision: str, operation: str
) -> Function:
    """Return attention or its gradients, by the implementation that the operation names, if any.

    Raises Unsupported in releases before 0.4.31, for heads of two sizes, and for an implementation
    that is missing here.
    """
    if not hasattr(jax.nn, "dot_product_attention"):
        raise Unsupported(f"jax {jax.__version__} has no jax.nn.dot_product_attention")
    if problem.d != problem.dv:
        raise Unsupported("jax.nn.dot_product_attention has heads of one size for keys and values")
    forced = FORCED.get(operation)
    if forced is not None and forced not in IMPLEMENTATIONS:
        raise Unsupported(f"jax.nn.dot_product_attention has no {forced} implementation")
    if forced == "cuDNN" and backend.device == "cpu":
        raise Unsupported("cuDNN runs on NVIDIA GPUs only, not on cpu")
    call = _attention(
        backend, problem, precision, None if forced is None else IMPLEMENTATIONS[forced]
    )
    operands = backend.arrays(
        precision, *(_tokens_first(each) for each in (drawn.q, drawn.k, drawn.v))
    )
    notes = {
        "route": "jax.jit of jax.nn.dot_product_attention",
        "implementation": forced or ("math" if backend.device == "cpu" else "jax's choice"),
        "layout": LAYOUT,
    }
    if not is_backward(operation):
        return Function(
            compile=backend.compiled(call, operands),
            read=lambda output: _heads_first(np.asarray(output)),
            notes=notes,
        )
    gradient = backend.array(_tokens_first(drawn.gradient), precision)
    _, pull = jax.vjp(jax.jit(call), *operands)
    places = {KEY_GRADIENT: 1, VALUE_GRADIENT: 2}
    return Function(
        compile=backend.compiled(lambda pull, given: pull(given), (pull, gradient)),
        read=lambda output: _heads_first(np.asarray(output[0])),
        further={name: _reader(place) for name, place in places.items()},
        notes={**notes, "route": "jax.jit of the function that jax.vjp returns"},
    )


def _attention(backend: JaxDevice, problem: Any, precision: str, implementation: Any) -> Any:
    """Return attention as a function of q, k and v.

    jax's `is_causal` lets the first query see the first key only. For fewer queries than keys the
    function therefore passes a mask.
    """
    more: dict[str, Any] = {}
    if problem.causal and problem.sq == problem.skv:
        more["is_causal"] = True
    elif problem.causal:
        more["mask"] = attention.mask(problem.sq, problem.skv)[None, None]
    exactness = "tensorfloat32" if precision == "tf32" else "float32"  # in every release

    def call(q: Any, k: Any, v: Any) -> Any:
        with jax.default_matmul_precision(exactness):
            return jax.nn.dot_product_attention(q, k, v, implementation=implementation, **more)

    return call


def _reader(place: int) -> Any:
    return lambda output: _heads_first(np.asarray(output[place]))


def _tokens_first(values: np.ndarray) -> np.ndarray:
    """Return a copy of values (batch, head, token, number) as (batch, token, head, number)."""
    return np.ascontiguousarray(values.swapaxes(1, 2))


def _heads_first(values: np.ndarray) -> np.ndarray:
    """Return a view of values (batch, token, head, number) as (batch, head, token, number)."""
    return values.swapaxes(1, 2)
