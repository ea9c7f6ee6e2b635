"""Linear layers in numpy: np.matmul of the matrices without a copy, and np.add for the bias."""

from collections.abc import Callable

import numpy as np

from deepbench_ops.backends.backend_interface import Backend
from deepbench_ops.backends.families import linear_layer
from deepbench_ops.backends.families.linear_layer import BIAS_OUTPUT
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.kernel_assembly import Prepared, Values, assemble
from deepbench_ops.backends.numpy_backend.precision import refuse_lacking
from deepbench_ops.backends.numpy_backend.widening import ROUTES
from deepbench_ops.problems.linear_layer import LinearLayer
from deepbench_ops.random_operands import aligned_empty


def build(
    backend: Backend, problem: LinearLayer, precision: str, operation: str, seed: int
) -> Kernel:
    """Prepare a layer or a gradient, in float32 or by way of float32 in float16."""
    refuse_lacking(precision)
    drawn = linear_layer.inputs(problem, precision, seed)
    further: dict[str, Values] = {}
    added = summed = None
    if operation == "forward":
        left, right, added = drawn.x, drawn.weight.T, drawn.bias
    elif operation == "backward_input":
        left, right = drawn.gradient, drawn.weight
    else:
        left, right = drawn.gradient.T, drawn.x
    output = aligned_empty((left.shape[0], right.shape[1]), left.dtype)
    product = _product(left, right, output, added)
    if operation == "backward_weight" and problem.bias:
        summed = aligned_empty((problem.n, 1), left.dtype)
        further[BIAS_OUTPUT] = lambda: summed
        run = _and_sum(product, drawn.gradient, summed)
    else:
        run = product

    def reset() -> None:
        output.fill(np.nan)
        if summed is not None:
            summed.fill(np.nan)

    reset()
    prepared = Prepared(
        run=run,
        reset=reset,
        output=lambda: output,
        further=further,
        notes={"route": ROUTES[precision]},
        implementation=backend.implementation,
    )
    return assemble(backend, problem, precision, operation, drawn, prepared)


def _product(
    left: np.ndarray, right: np.ndarray, output: np.ndarray, added: np.ndarray | None
) -> Callable[[], object]:
    """Return a function that writes left·right + added into `output`.

    For float16 it widens the operands and rounds the output in every call.
    """
    matmul, add, copyto = np.matmul, np.add, np.copyto
    if output.dtype == np.float32:

        def run() -> None:
            matmul(left, right, output)
            if added is not None:
                add(output, added, output)

        return run
    wide = [np.empty_like(operand, np.float32) for operand in (left, right)]
    sums = aligned_empty(output.shape, np.float32)

    def run_widening() -> None:
        copyto(wide[0], left)
        copyto(wide[1], right)
        matmul(wide[0], wide[1], sums)
        if added is not None:
            add(sums, added, sums)
        copyto(output, sums, casting="same_kind")

    return run_widening


def _and_sum(
    product: Callable[[], object], gradient: np.ndarray, summed: np.ndarray
) -> Callable[[], object]:
    """Return a function that computes the product, and the sum of the gradient over its rows in
    float32."""

    def run() -> None:
        product()
        summed[:, 0] = gradient.sum(0, dtype=np.float32)

    return run
