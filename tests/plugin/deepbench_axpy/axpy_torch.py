"""y = a x + y in torch."""

import torch
from deepbench_axpy import axpy_operands

from deepbench_ops.backends.kernel_assembly import Prepared, assemble
from deepbench_ops.errors import Unsupported


def build(backend, problem, precision, operation, seed):
    if precision != "float32":
        raise Unsupported("axpy is there in float32 alone")
    drawn = axpy_operands.inputs(problem, precision, seed)
    x, y = (torch.from_numpy(v).to(backend.device) for v in (drawn.x, drawn.y))
    output = y.clone()
    prepared = Prepared(
        run=lambda: output.add_(x, alpha=axpy_operands.A),
        reset=lambda: output.copy_(y),
        output=lambda: output,
        notes={"route": "Tensor.add_"},
    )
    return assemble(backend, problem, precision, operation, drawn, prepared)
