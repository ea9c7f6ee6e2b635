"""C = A·B + C as numpy's own two calls: a product into a scratch array and an addition.

numpy is the only framework in here without a GEMM that adds to C, so what it can do without
help is what is measured. Arrays hold column-major matrices as the C-contiguous transposes, so
the product is C^T = op(B)^T · op(A)^T; numpy hands that to BLAS as it lies, with its transposes
and without a copy.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from deepbench_ops.backends.assembly import Prepared, assemble
from deepbench_ops.backends.base import Backend
from deepbench_ops.backends.families import gemm
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.numpy_backend.precision import refuse_lacking
from deepbench_ops.backends.numpy_backend.widening import ROUTES, parts
from deepbench_ops.problems.gemm import Gemm
from deepbench_ops.random_operands import aligned_empty


def build(backend: Backend, problem: Gemm, precision: str, operation: str, seed: int) -> Kernel:
    """Prepare a GEMM in float32, or in float16 or int8 by way of it (see `widening`)."""
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
    """Return the two calls with nothing but their operands looked up at run time."""
    matmul, add = np.matmul, np.add
    product = aligned_empty(output.shape, output.dtype)

    def run() -> None:
        matmul(left, right, product)
        add(output, product, output)

    return run


def _bind_widening(left: np.ndarray, right: np.ndarray, output: np.ndarray) -> Callable[[], object]:
    """Return the same for operands that BLAS does not take, with their way there and back."""
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
