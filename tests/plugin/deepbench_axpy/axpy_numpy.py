"""y = a x + y in numpy."""

import numpy as np
from deepbench_axpy import axpy_operands

from deepbench_ops.backends.kernel_assembly import Prepared, assemble
from deepbench_ops.errors import Unsupported


def build(backend, problem, precision, operation, seed):
    if precision != "float32":
        raise Unsupported("axpy is there in float32 alone")
    drawn = axpy_operands.inputs(problem, precision, seed)
    product, output = np.empty_like(drawn.x), drawn.y.copy()

    def run():
        np.multiply(drawn.x, np.float32(axpy_operands.A), product)
        np.add(output, product, output)

    prepared = Prepared(
        run=run,
        reset=lambda: np.copyto(output, drawn.y),
        output=lambda: output,
        notes={"route": "np.multiply and np.add"},
    )
    return assemble(backend, problem, precision, operation, drawn, prepared)
