"""C = A·B + C in two calls of numpy: a product into a scratch array, and an addition.

numpy has no GEMM that adds to C. Column-major matrices are stored as their C-contiguous transposes,
so the kernel computes C^T = op(B)^T · op(A)^T. numpy passes these arrays to BLAS without a copy.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from deepbench_ops.backends.backend_interface import Backend
from deepbench_ops.backends.families import gemm
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.kernel_assembly import Prepared, assemble
from deepbench_ops.backends.numpy_backend.precision import refuse_lacking
from deepbench_ops.backends.numpy_backend.widening import ROUTES, parts
from deepbench_ops.problems.gemm import Gemm
from deepbench_ops.random_operands import aligned_empty


def build(backend: Backend, problem: Gemm, precision: str, operation: str, seed: int) -> Kernel:
    """Prepare a GEMM, in float32 or by way of float32 in float16 and int8 (see `widening`)."""
    refuse_lacking(precision)
    inputs = gemm.inputs(problem, precision, seed)
    initial = inputs.c.T
    output = aligned_empty(initial.shape, initial.dtype)
    reset = partial(np.copyto, output, initial)
    reset()
    bind = _bind if precision == "float32" else _bind_widening
    prepared = Prepared(
        run=bind(inputs.b.T, inputs.a.T, output),
        reset=reset,
        output=lambda: output.T,
        notes={"route": f"{ROUTES[precision]}; C by np.add"},
        implementation=backend.implementation,
    )
    return assemble(backend, problem, precision, operation, inputs, prepared)


def _bind(left: np.ndarray, right: np.ndarray, output: np.ndarray) -> Callable[[], object]:
    """Return one function that does both calls on these float32 operands."""
    matmul, add = np.matmul, np.add
    product = aligned_empty(output.shape, output.dtype)

    def run() -> None:
        matmul(left, right, product)
        add(output, product, output)

    return run


def _bind_widening(left: np.ndarray, right: np.ndarray, output: np.ndarray) -> Callable[[], object]:
    """Return one function that does both calls on float16 or int8 operands: it widens the operands
    to float32, multiplies, and adds the sums to the output."""
    matmul, copyto = np.matmul, np.copyto
    left_wide, right_wide = (np.empty_like(x, np.float32) for x in (left, right))
    product = aligned_empty(output.shape, np.float32)
    whole = output.dtype.kind == "i"
    pairs = tuple(parts(left_wide, right_wide, exact=whole))
    summed_in = np.dtype(np.int32) if whole else np.dtype(np.float32)
    add = partial(np.add, output, product, output, dtype=summed_in, casting="unsafe")

    def run() -> None:
        copyto(left_wide, left)
        copyto(right_wide, right)
        for left_part, right_part in pairs:
            matmul(left_part, right_part, product)
            add()

    return run
