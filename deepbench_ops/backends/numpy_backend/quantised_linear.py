"""Quantised linear layers in numpy: 4-bit weights widened by a table, then a BLAS product."""

import numpy as np

from deepbench_ops.backends.backend_interface import Backend
from deepbench_ops.backends.families import quantised_linear as family
from deepbench_ops.backends.families.low_precision import VALUES, packed_pairs
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.kernel_assembly import Prepared, assemble
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.quantised_linear import QuantisedLinear
from deepbench_ops.random_operands import aligned_empty


def build(
    backend: Backend, problem: QuantisedLinear, precision: str, operation: str, seed: int
) -> Kernel:
    """Prepare the product of float32 activations with 4-bit weights, which every call widens.

    Raises Unsupported for other operations and precisions.
    """
    if operation != "dequantised_forward":
        raise Unsupported("numpy has no product of quantised operands")
    if precision not in ("float32_int4", "float32_mxfp4"):
        raise Unsupported(f"numpy has neither fp8 nor bfloat16, the type of {precision} results")
    drawn = family.inputs(problem, precision, seed)
    x, packed = drawn.activations, packed_pairs(drawn.w.codes)
    pairs = _pairs(drawn.w.kind)
    across = drawn.w.block[1]
    scales = drawn.w.scales[:, :, None]
    wide = aligned_empty((problem.n, problem.k // 2, 2), np.float32)
    grouped = wide.reshape(problem.n, problem.k // across, across)
    w = wide.reshape(problem.n, problem.k).T
    y = aligned_empty((problem.m, problem.n), np.float32)

    def run() -> None:
        np.take(pairs, packed, axis=0, out=wide, mode="clip")
        np.multiply(grouped, scales, out=grouped)
        np.matmul(x, w, out=y)

    prepared = Prepared(
        run=run,
        reset=lambda: y.fill(np.nan),
        output=lambda: y,
        notes={
            "route": "np.take of two numbers for each byte, np.multiply with the scales, np.matmul"
            " through BLAS, in every call"
        },
        implementation=backend.implementation,
    )
    return assemble(backend, problem, precision, operation, drawn, prepared)


def _pairs(kind: str) -> np.ndarray:
    """Return the two numbers that each byte of packed codes stands for, 256 x 2."""
    signed = np.where(np.arange(16) < 8, np.arange(16), np.arange(16) - 16)
    of_code = np.asarray(VALUES["fp4"] if kind == "fp4" else signed, np.float32)
    return np.stack([np.tile(of_code, 16), np.repeat(of_code, 16)], axis=1)
