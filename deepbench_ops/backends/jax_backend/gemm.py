"""C + A·B in jax: a dot_general and an addition, compiled together.

jax's arrays are row-major. The kernel therefore computes the transposed product,
C^T + op(B)^T·op(A)^T, of the operands in their memory order; transposes are options of the product
and no data is moved.
"""

from typing import Any

import numpy as np
from jax import lax

from deepbench_ops.backends.families import gemm
from deepbench_ops.backends.families.gemm import GemmInputs
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.jax_backend.device import JaxDevice
from deepbench_ops.problems.gemm import Gemm


def function(
    backend: JaxDevice, problem: Gemm, drawn: GemmInputs, precision: str, operation: str
) -> Function:
    """Return the product, with int32 sums for int8."""
    stored = gemm.row_major(problem, drawn)
    b, a = backend.arrays(precision, stored.b, stored.a)
    c = backend.array(stored.c, precision if precision != "int8" else "int32")
    dimensions = (
        ((0 if problem.b_transposed else 1,), (1 if problem.a_transposed else 0,)),
        ((), ()),
    )
    exactness = backend.precision_of_products(precision)
    sums = c.dtype
    if precision != "int8":
        sums = backend.type_of_sums(precision, problem.m, problem.n)

    def product(b: Any, a: Any, c: Any) -> Any:
        found = lax.dot_general(b, a, dimensions, precision=exactness, preferred_element_type=sums)
        return (c + found).astype(c.dtype)

    return Function(
        compile=backend.compiled(product, (b, a, c)),
        read=lambda output: np.asarray(output).T,
        notes={"route": "jax.jit of c + lax.dot_general"},
    )
