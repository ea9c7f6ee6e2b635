"""C = op(A)·op(B) with A in jax's compressed rows, the dense product, and the conversion.

The documentation of `jax.experimental.sparse` calls it a reference implementation. Newer releases
have a loop for float32 on the CPU. Otherwise a product is a gather, a multiplication and a scatter,
which adds up in the precision of the values.
"""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import sparse

from deepbench_ops.backends.families.sparse_gemm import (
    SparseInputs,
    concatenated,
    layout_note,
    layout_of_a,
    layout_of_b,
    row_major,
)
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.jax_backend.device import JaxDevice
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.sparse_gemm import SparseGemm

NARROW = "jax adds up the products of compressed rows in the precision of their values"


def function(
    backend: JaxDevice, problem: SparseGemm, drawn: SparseInputs, precision: str, operation: str
) -> Function:
    """Return one of the three operations.

    Raises Unsupported for other precisions than float32, whose sums would be inexact, and for a
    transposed A.
    """
    if precision != "float32":
        raise Unsupported(f"{NARROW}, which for {precision} is too narrow")
    if problem.a_transposed:
        raise Unsupported("jax converts transposed compressed rows to new ones in every call")
    return _MAKERS[operation](backend, problem, drawn)


def _product(backend: JaxDevice, problem: SparseGemm, drawn: SparseInputs) -> Function:
    a = drawn.a
    values = backend.array(a.values, "float32")
    columns, offsets = backend.arrays("int32", a.columns, a.offsets)
    b = backend.array(row_major(drawn.b), "float32")

    def product(values: Any, columns: Any, offsets: Any, b: Any) -> Any:
        rows = sparse.BCSR(
            (values, columns, offsets), shape=a.shape, indices_sorted=True, unique_indices=True
        )
        return rows @ b

    return Function(
        compile=backend.compiled(product, (values, columns, offsets, b)),
        read=np.asarray,
        notes={
            "layout": f"{layout_of_a(problem, compressed=True)};"
            f" {layout_of_b(problem, 'row-major').replace('vectors', 'matrices of one column')}",
            "route": "jax.jit of jax.experimental.sparse.BCSR @ array",
        },
    )


def _dense_product(backend: JaxDevice, problem: SparseGemm, drawn: SparseInputs) -> Function:
    """Return the transposed product of the operands in their memory order, as for GEMM."""
    a = backend.array(drawn.a.dense().T, "float32")
    stored = drawn.b if problem.b_transposed else drawn.b.T
    b = backend.array(stored, "float32")
    dimensions = (((0 if problem.b_transposed else 1,), (0,)), ((), ()))
    exactness = backend.precision_of_products("float32")

    def product(b: Any, a: Any) -> Any:
        return lax.dot_general(b, a, dimensions, precision=exactness)

    return Function(
        compile=backend.compiled(product, (b, a)),
        read=lambda output: np.asarray(output).T,
        notes={
            "layout": layout_note(problem, compressed=False, order="column-major"),
            "route": "jax.jit of lax.dot_general",
        },
    )


def _conversion(backend: JaxDevice, problem: SparseGemm, drawn: SparseInputs) -> Function:
    dense = backend.array(row_major(drawn.a.dense()), "float32")

    def convert(dense: Any) -> Any:
        made = sparse.BCSR.fromdense(dense, nse=problem.nonzeros, index_dtype=jnp.int32)
        return made.indptr, made.indices, made.data

    def read(output: Any) -> np.ndarray:
        return concatenated(drawn.a, *(np.asarray(part) for part in output))

    return Function(
        compile=backend.compiled(convert, (dense,)),
        read=read,
        notes={
            "layout": "A dense with its zeros, m x k, row-major",
            "route": "jax.jit of jax.experimental.sparse.BCSR.fromdense, told how many values"
            " there are; int32 positions",
        },
    )


_MAKERS = {"forward": _product, "dense_forward": _dense_product, "conversion": _conversion}
