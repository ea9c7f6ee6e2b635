"""Grouped products in numpy: one BLAS product for each group that has rows."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from deepbench_ops.backends.backend_interface import Backend
from deepbench_ops.backends.families import grouped_gemm as family
from deepbench_ops.backends.families.grouped_gemm import GroupedInputs
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.kernel_assembly import Prepared, assemble
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.grouped_gemm import GroupedGemm
from deepbench_ops.random_operands import aligned_empty

Call = Callable[[], object]


def build(
    backend: Backend, problem: GroupedGemm, precision: str, operation: str, seed: int
) -> Kernel:
    """Prepare one operation in float32; raise Unsupported for other precisions."""
    if precision != "float32":
        raise Unsupported(f"numpy has no BLAS products in {precision}")
    drawn = family.inputs(problem, precision, seed)
    shape = family.reference(problem, drawn, precision, operation).shape
    output = aligned_empty(shape, np.float32)
    calls = list(_calls(drawn, operation, output))

    def run() -> None:
        for call in calls:
            call()

    prepared = Prepared(
        run=run,
        reset=lambda: output.fill(np.nan),
        output=lambda: output,
        notes={"route": f"a loop over {len(calls)} np.matmul through BLAS into a given output"},
        implementation=backend.implementation,
    )
    return assemble(backend, problem, precision, operation, drawn, prepared)


def _calls(drawn: GroupedInputs, operation: str, output: np.ndarray) -> Iterator[Call]:
    """Yield a call for the product of each group with rows; for dW of every group, since the
    gradient of a group without rows is zero."""
    for group, (start, end) in enumerate(zip(drawn.starts, drawn.ends, strict=True)):
        held = slice(start, end)
        if operation == "backward_weight":
            yield partial(np.matmul, drawn.dy[held].T, drawn.x[held], output[group])
        elif end > start:
            w = drawn.w[group]
            left, right = (drawn.x, w.T) if operation == "forward" else (drawn.dy, w)
            yield partial(np.matmul, left[held], right, output[held])
