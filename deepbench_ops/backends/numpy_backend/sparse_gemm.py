"""C = op(A)·op(B) with A in scipy.sparse's compressed rows, the dense product, and the conversion.

scipy would copy a column-major B in every call and takes a row-major B without a copy, so B is made
row-major before. scipy has no call that writes into a given C.
"""

from dataclasses import replace
from functools import partial
from operator import matmul
from typing import Any

import numpy as np

from deepbench_ops.backends.backend_interface import Backend
from deepbench_ops.backends.families import sparse_gemm
from deepbench_ops.backends.families.sparse_gemm import (
    SparseInputs,
    concatenated,
    layout_note,
    layout_of_a,
    row_major,
)
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.kernel_assembly import Prepared, assemble
from deepbench_ops.backends.latest_output import LatestOutput
from deepbench_ops.backends.numpy_backend.precision import refuse_lacking
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.sparse_gemm import SparseGemm
from deepbench_ops.random_operands import aligned_empty

LACKING = {
    "float16": "scipy.sparse does not support float16",
    "int8": "scipy.sparse adds int8 products up in int8, which overflows; 32-bit sums take 32-bit"
    " operands, four times the bytes",
}


def build(
    backend: Backend, problem: SparseGemm, precision: str, operation: str, seed: int
) -> Kernel:
    """Prepare one of the three operations in float32.

    Raises Unsupported for a precision in which scipy cannot multiply, for all three operations: the
    dense product and the conversion are measured to be compared with the sparse product.
    """
    refuse_lacking(precision)
    if precision in LACKING:
        raise Unsupported(LACKING[precision])
    sparse = _scipy_sparse()
    drawn = sparse_gemm.inputs(problem, precision, seed)
    prepared = _PREPARE[operation](sparse, problem, drawn)
    if operation == "dense_forward":
        prepared = replace(prepared, implementation=backend.implementation)
    return assemble(backend, problem, precision, operation, drawn, prepared)


def _scipy_sparse() -> Any:
    """Import scipy.sparse, which processes without sparse kernels must not load.

    Raises Unsupported where scipy is not installed.
    """
    try:
        from scipy import sparse
    except ModuleNotFoundError as missing:
        if missing.name != "scipy":
            raise
        raise Unsupported(
            "scipy is not installed, and numpy has no sparse matrices of its own: install scipy"
        ) from None
    return sparse


def _product(sparse: Any, problem: SparseGemm, drawn: SparseInputs) -> Prepared:
    """Prepare ``csr_array @ array``, with a vector for a B of one column.

    A transposed A is scipy's own view of the same three arrays, as compressed columns.
    """
    arrays = (drawn.a.values, drawn.a.columns, drawn.a.offsets)
    stored = sparse.csr_array(arrays, shape=drawn.a.shape)
    a = stored.T if problem.a_transposed else stored
    b = drawn.b[:, 0] if problem.n == 1 else drawn.b
    shape = (problem.m, problem.n)
    nothing = np.broadcast_to(np.float32(np.nan), shape)
    newest = LatestOutput(partial(matmul, a, row_major(b)), nothing)
    return Prepared(
        run=newest.run,
        reset=newest.reset,
        output=lambda: newest.output.reshape(shape),
        notes={
            "layout": layout_note(problem, compressed=True, order="row-major"),
            "route": "scipy.sparse csr_array @ array: scipy's own loop on one thread, whatever is"
            " set; a new C in every call",
        },
    )


def _dense_product(sparse: Any, problem: SparseGemm, drawn: SparseInputs) -> Prepared:
    """Prepare ``np.matmul`` through BLAS into a given C, with vectors for a B of one column.

    Column-major matrices are stored as their C-contiguous transposes, as for GEMM.
    """
    stored = drawn.a.dense()
    a = stored.T if problem.a_transposed else stored
    c = aligned_empty((problem.n, problem.m), stored.dtype).T
    if problem.n == 1:
        run = partial(np.matmul, a, drawn.b[:, 0], c[:, 0])
    else:
        run = partial(np.matmul, drawn.b.T, a.T, c.T)
    return Prepared(
        run=run,
        reset=partial(c.fill, np.nan),
        output=lambda: c,
        notes={
            "layout": layout_note(problem, compressed=False, order="column-major"),
            "route": "np.matmul through BLAS into a given C",
        },
    )


def _conversion(sparse: Any, problem: SparseGemm, drawn: SparseInputs) -> Prepared:
    """Prepare ``csr_array(dense)``, which makes new arrays in every call."""
    newest = LatestOutput(partial(sparse.csr_array, drawn.a.dense()), sparse.csr_array((1, 1)))

    def values() -> np.ndarray:
        made = newest.output
        return concatenated(drawn.a, made.indptr, made.indices, made.data)

    return Prepared(
        run=newest.run,
        reset=newest.reset,
        output=values,
        notes={
            "layout": layout_of_a(problem, compressed=False),
            "route": "scipy.sparse.csr_array(array) on one thread, whatever is set; int32"
            " positions",
        },
    )


_PREPARE = {"forward": _product, "dense_forward": _dense_product, "conversion": _conversion}
