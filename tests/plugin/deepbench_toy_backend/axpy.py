"""y = a x + y in toy."""

import numpy as np
import toy
from deepbench_axpy import axpy_operands

from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.errors import Unsupported


def build(backend, problem, precision, operation, seed):
    if precision != "float32" or operation != "forward":
        raise Unsupported("toy sums in float32 alone")
    drawn = axpy_operands.inputs(problem, precision, seed)
    scratch, output = np.empty_like(drawn.x), drawn.y.copy()
    factor = np.float32(axpy_operands.A)
    return Kernel(
        label=f"toy {problem.id}",
        run=lambda: toy.axpy(factor, drawn.x, output, scratch),
        synchronise=lambda: None,
        reset=lambda: np.copyto(output, drawn.y),
        result=lambda: output.astype(np.float64),
        peek=lambda index: output[index].astype(np.float64),
        reference=axpy_operands.reference(problem, drawn, precision, operation),
        flops=problem.flops,
        bytes=problem.bytes(precision),
        notes=drawn.notes,
    )
