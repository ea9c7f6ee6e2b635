"""y = a x + y in toy."""

import numpy as np
import toy
from deepbench_axpy import axpy_operands

from deepbench_ops.backends.kernel_assembly import Prepared, assemble
from deepbench_ops.errors import Unsupported


def build(backend, problem, precision, operation, seed):
    if precision != "float32" or operation != "forward":
        raise Unsupported("toy sums in float32 alone")
    drawn = axpy_operands.inputs(problem, precision, seed)
    scratch, output = np.empty_like(drawn.x), drawn.y.copy()
    factor = np.float32(axpy_operands.A)
    prepared = Prepared(
        run=lambda: toy.axpy(factor, drawn.x, output, scratch),
        reset=lambda: np.copyto(output, drawn.y),
        output=lambda: output,
        notes={"route": "toy.axpy"},
    )
    return assemble(backend, problem, precision, operation, drawn, prepared)
