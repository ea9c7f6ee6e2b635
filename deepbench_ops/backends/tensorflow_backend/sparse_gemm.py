"""C = op(A)·op(B) with A in coordinates (tf.SparseTensor), the dense product, the conversion."""

from typing import Any

import numpy as np
import tensorflow as tf

from deepbench_ops.backends.families.sparse_gemm import (
    SparseInputs,
    concatenated,
    layout_note,
    layout_of_b,
    row_major,
)
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.tensorflow_backend.device import TensorFlowDevice
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.sparse_gemm import SparseGemm

PRECISIONS = ("float32", "float16")
"""Precisions in which TensorFlow's sparse product has sums that are wide enough."""

ROWS = "A in coordinates with int64 positions, row by row"
"""Note for the record on the layout of A."""


def function(
    backend: TensorFlowDevice,
    problem: SparseGemm,
    drawn: SparseInputs,
    precision: str,
    operation: str,
) -> Function:
    """Return one of the three operations; raise Unsupported for other precisions."""
    if precision not in PRECISIONS:
        raise Unsupported(
            f"tensorflow multiplies coordinates in {' and '.join(PRECISIONS)}: in {precision} its"
            " sums are too narrow"
        )
    return _MAKERS[operation](backend, problem, drawn, precision)


def _product(
    backend: TensorFlowDevice, problem: SparseGemm, drawn: SparseInputs, precision: str
) -> Function:
    a = drawn.a
    positions = backend.tensor(np.stack([a.rows, a.columns], axis=1), "int64")
    values, b = backend.tensors(precision, a.values, row_major(drawn.b))

    def product(positions: Any, values: Any, b: Any) -> Any:
        sparse = tf.SparseTensor(positions, values, a.shape)
        return tf.sparse.sparse_dense_matmul(sparse, b, adjoint_a=problem.a_transposed)

    dense = layout_of_b(problem, "row-major").replace("vectors", "matrices of one column")
    return Function(
        compile=backend.compiled(product, (positions, values, b)),
        read=lambda output: output.numpy(),
        notes={
            "layout": f"{ROWS}; {dense}",
            "route": "tf.function of tf.sparse.sparse_dense_matmul",
        },
    )


def _dense_product(
    backend: TensorFlowDevice, problem: SparseGemm, drawn: SparseInputs, precision: str
) -> Function:
    """Return the transposed product of the operands in their memory order, as for GEMM."""
    stored = drawn.b if problem.b_transposed else drawn.b.T
    b, a = backend.tensors(precision, stored, drawn.a.dense().T)

    def product(b: Any, a: Any) -> Any:
        return tf.matmul(b, a, transpose_a=problem.b_transposed, transpose_b=problem.a_transposed)

    return Function(
        compile=backend.compiled(product, (b, a)),
        read=lambda output: output.numpy().T,
        notes={
            "layout": layout_note(problem, compressed=False, order="column-major"),
            "route": "tf.function of tf.matmul",
        },
    )


def _conversion(
    backend: TensorFlowDevice, problem: SparseGemm, drawn: SparseInputs, precision: str
) -> Function:
    dense = backend.tensor(row_major(drawn.a.dense()), precision)

    def convert(dense: Any) -> Any:
        made = tf.sparse.from_dense(dense)
        return made.indices, made.values

    def read(output: Any) -> np.ndarray:
        positions, values = (part.numpy() for part in output)
        count = np.bincount(positions[:, 0], minlength=drawn.a.shape[0])
        return concatenated(
            drawn.a, np.concatenate([[0], np.cumsum(count)]), positions[:, 1], values
        )

    return Function(
        compile=backend.compiled(convert, (dense,)),
        read=read,
        notes={
            "layout": "A dense with its zeros, row-major",
            "route": f"tf.function of tf.sparse.from_dense: {ROWS}",
        },
    )


_MAKERS = {"forward": _product, "dense_forward": _dense_product, "conversion": _conversion}
