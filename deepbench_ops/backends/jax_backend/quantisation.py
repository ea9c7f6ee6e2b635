"""Quantisation in jax: largest magnitudes, quotients and casts, compiled together."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from deepbench_ops.backends.families import low_precision as formats
from deepbench_ops.backends.families import quantisation as family
from deepbench_ops.backends.families.quantisation import QuantisationInputs
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.jax_backend.device import JaxDevice
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.quantisation import BLOCKS, Quantisation


def function(
    backend: JaxDevice,
    problem: Quantisation,
    drawn: QuantisationInputs,
    precision: str,
    operation: str,
) -> Function:
    """Return the quantisation, for norm_forward with the norm before it.

    Raises Unsupported for releases without a type for 4-bit numbers.
    """
    kind, across = family.KINDS[precision], BLOCKS[precision] or problem.n
    narrow = {"int8": jnp.int8, "fp8": jnp.float8_e4m3fn}.get(kind)
    narrow = narrow or getattr(jnp, "float4_e2m1fn", None)
    if narrow is None:
        raise Unsupported("this release of jax has no float4_e2m1fn")
    largest = formats.LARGEST[kind]
    blocks = (problem.m, problem.n // across, across)

    def quantise(x: Any) -> Any:
        grouped = x.reshape(blocks).astype(jnp.float32)
        size = jnp.abs(grouped).max(axis=2, keepdims=True)
        scale = size / largest
        if precision.startswith("mx"):
            exponent = jnp.frexp(size)[1] - (1 + formats.GREATEST_EXPONENT[kind])
            scale = jnp.ldexp(jnp.float32(1), exponent)
        quotient = grouped / scale
        rounded = jnp.round(quotient) if kind == "int8" else jnp.clip(quotient, -largest, largest)
        codes = rounded.astype(narrow).reshape(problem.m, problem.n)
        return codes, scale[:, :, 0]

    def normalised(x: Any, weight: Any) -> Any:
        wide = x.astype(jnp.float32)
        size = lax.rsqrt(jnp.square(wide).mean(axis=1, keepdims=True) + family.EPSILON)
        return quantise(wide * size * weight.astype(jnp.float32))

    x = backend.array(drawn.x, "bfloat16")
    if operation == "norm_forward":
        operands = (x, backend.array(drawn.weight, "bfloat16"))
        compiled = backend.compiled(normalised, operands)
    else:
        compiled = backend.compiled(quantise, (x,))

    def scales(output: Any) -> np.ndarray:
        return np.asarray(output[1])

    def numbers(output: Any) -> np.ndarray:
        each = np.repeat(scales(output), across, axis=1)
        return np.asarray(output[0].astype(jnp.float32)) * each

    return Function(
        compile=compiled,
        read=numbers,
        further={family.SCALES: scales},
        notes={"route": f"jax.jit of largest magnitudes, quotients and astype({narrow.__name__})"},
    )
