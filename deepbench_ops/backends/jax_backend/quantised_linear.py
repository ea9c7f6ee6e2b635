"""Quantised linear layers in jax: int8 by dot_general, and products of widened operands."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from deepbench_ops.backends.families import quantised_linear as family
from deepbench_ops.backends.families.low_precision import VALUES, Quantised, packed_pairs
from deepbench_ops.backends.families.quantised_linear import QuantisedLinearInputs
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.jax_backend.device import DTYPES, JaxDevice
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.precision import result_type
from deepbench_ops.problems.quantised_linear import QuantisedLinear

BY_ROWS = (((1,), (1,)), ((), ()))
"""Dimensions over which x·Wᵀ is summed, for dot_general."""


def function(
    backend: JaxDevice,
    problem: QuantisedLinear,
    drawn: QuantisedLinearInputs,
    precision: str,
    operation: str,
) -> Function:
    """Return the layer of an operation, with its operands bound.

    Raises Unsupported for an operation or a precision that jax lacks.
    """
    if operation in ("fused_forward", "library_forward"):
        raise Unsupported("jax has no layer that quantises its activations")
    if operation == "dequantised_forward":
        return _dequantised(backend, drawn, precision)
    if precision != "int8_row":
        raise Unsupported(
            "XLA widens operands of 4 bits and of fp8 to 16 or 32 bits before it multiplies on"
            f" {backend.device}, but for fp8 and MX products on the newest GPUs, which are not"
            " measured yet"
        )
    x = backend.array(drawn.activations, "bfloat16")
    w = backend.array(drawn.w.codes, "int8")
    scales = backend.array(drawn.w.scales[:, 0], "float32")

    def layer(x: Any, w: Any, scales: Any) -> Any:
        step = jnp.abs(x).max(axis=1, keepdims=True).astype(jnp.float32) / 127
        codes = jnp.round(x / step).astype(jnp.int8)
        sums = lax.dot_general(codes, w, BY_ROWS, preferred_element_type=jnp.int32)
        return (sums * step * scales).astype(jnp.bfloat16)

    return Function(
        compile=backend.compiled(layer, (x, w, scales)),
        read=_read,
        notes={"route": "jax.jit of rounding each row of x, lax.dot_general of int8 and scales"},
    )


def _dequantised(backend: JaxDevice, drawn: QuantisedLinearInputs, precision: str) -> Function:
    kept = result_type(precision)
    exactness = backend.precision_of_products(kept)
    weights, widen_weights = _narrow(backend, drawn.w, kept)
    if precision in family.ACTIVATION_SCHEMES:
        x, widen_x = _narrow(backend, drawn.quantised_activations, kept)
    else:
        x, widen_x = (backend.array(drawn.activations, kept),), lambda values: values

    def layer(x: Any, w: Any) -> Any:
        return lax.dot_general(widen_x(*x), widen_weights(*w), BY_ROWS, precision=exactness)

    return Function(
        compile=backend.compiled(layer, (x, weights)),
        read=_read,
        notes={
            "route": f"jax.jit of widening codes and scales to {kept} and lax.dot_general, all of"
            " it in every call"
        },
    )


def _narrow(backend: JaxDevice, operand: Quantised, kept: str) -> tuple[tuple[Any, ...], Any]:
    """Return the arrays of a quantised operand, and a function of them that dequantises them."""
    rows, columns = operand.codes.shape
    four = operand.kind in ("int4", "fp4")
    stored = packed_pairs(operand.codes) if four else operand.codes
    scales = backend.array(operand.scales, "float32")
    codes = jax.device_put(stored, next(iter(scales.devices())))
    signed = np.where(np.arange(16) < 8, np.arange(16), np.arange(16) - 16).astype(np.float32)
    table = signed if operand.kind == "int4" else VALUES.get("fp4")
    down, across = operand.block

    def widened(codes: Any, scales: Any) -> Any:
        if four:
            halves = jnp.stack([codes & 15, codes >> 4], axis=-1)
            numbers = jnp.asarray(table)[halves].reshape(rows, columns)
        elif operand.kind == "fp8":
            numbers = lax.bitcast_convert_type(codes, jnp.float8_e4m3fn).astype(jnp.float32)
        else:
            numbers = codes.astype(jnp.float32)
        each = jnp.repeat(scales, down, axis=0)[:rows] if down > 1 else scales
        wide = numbers.reshape(rows, columns // across, across) * each[:, :, None]
        return wide.reshape(rows, columns).astype(DTYPES[kept])

    return (codes, scales), widened


def _read(output: Any) -> np.ndarray:
    return np.asarray(output.astype(jnp.float32))
