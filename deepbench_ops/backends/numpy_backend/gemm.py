"""C = A·B + C as numpy's own two calls: a product into a scratch array and an addition.

numpy is the only framework in here without a GEMM that adds to C, so what it can do without
help is what is measured. Arrays hold column-major matrices as the C-contiguous transposes, so
the product is C^T = op(B)^T · op(A)^T; numpy hands that to BLAS as it lies, with its transposes
and without a copy.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from deepbench_ops.backends.families import gemm
from deepbench_ops.backends.inputs import aligned_empty
from deepbench_ops.backends.kernel import Index, Kernel
from deepbench_ops.backends.numpy_backend.precision import done, refuse_lacking, widened
from deepbench_ops.problems.gemm import Gemm

ROUTES = {
    "float32": "np.matmul through BLAS, then np.add",
    "float16": "np.matmul by numpy's own loop adding in float32, no BLAS; then np.add",
    "int8": "np.matmul by numpy's own int32 loop over operands widened in every call, no BLAS;"
    " then np.add",
}


def build(backend: object, problem: Gemm, precision: str, operation: str, seed: int) -> Kernel:
    """Prepare a GEMM in float32 (BLAS), float16 or int8 (numpy's own, slow loops)."""
    refuse_lacking(precision)
    inputs = gemm.inputs(problem, precision, seed)
    initial = inputs.c.T
    output = aligned_empty(initial.shape, initial.dtype)
    product = aligned_empty(initial.shape, initial.dtype)
    reset = partial(np.copyto, output, initial)
    reset()

    def peek(index: Index) -> np.ndarray:
        return widened(output.T[index])

    return Kernel(
        label=f"numpy cpu {precision} {problem.id}",
        run=_bind(inputs.b.T, inputs.a.T, product, output),
        synchronise=done,
        reset=reset,
        result=lambda: widened(output.T),
        peek=peek,
        reference=gemm.reference(problem, inputs, precision, operation),
        flops=problem.flops,
        bytes=problem.bytes(precision),
        notes={**inputs.notes, "route": ROUTES[precision], "padding": "none"},
    )


def _bind(
    left: np.ndarray, right: np.ndarray, product: np.ndarray, output: np.ndarray
) -> Callable[[], object]:
    """Return the two calls with nothing but their operands looked up at run time."""
    matmul, add = np.matmul, np.add
    if left.dtype == np.int8:
        int32 = np.dtype(np.int32)

        def run_int8() -> None:
            matmul(left, right, product, dtype=int32)
            add(output, product, output)

        return run_int8

    def run() -> None:
        matmul(left, right, product)
        add(output, product, output)

    return run
