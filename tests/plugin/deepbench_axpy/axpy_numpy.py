"""y = a x + y in numpy."""

import numpy as np

from deepbench_axpy import axpy_operands
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.errors import Unsupported


def build(backend, problem, precision, operation, seed):
    if precision != "float32":
        raise Unsupported("axpy is there in float32 alone")
    drawn = axpy_operands.inputs(problem, precision, seed)
    product, output = np.empty_like(drawn.x), drawn.y.copy()

    def run():
        np.multiply(drawn.x, np.float32(axpy_operands.A), product)
        np.add(output, product, output)

    return Kernel(
        label=f"numpy {problem.id}",
        run=run,
        synchronise=lambda: None,
        reset=lambda: np.copyto(output, drawn.y),
        result=lambda: output.astype(np.float64),
        peek=lambda index: output[index].astype(np.float64),
        reference=axpy_operands.reference(problem, drawn, precision, operation),
        flops=problem.flops,
        bytes=problem.bytes(precision),
        notes=drawn.notes,
    )
