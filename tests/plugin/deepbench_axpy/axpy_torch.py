"""y = a x + y in torch."""

import torch

from deepbench_axpy import axpy_operands
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.errors import Unsupported


def build(backend, problem, precision, operation, seed):
    if precision != "float32":
        raise Unsupported("axpy is there in float32 alone")
    drawn = axpy_operands.inputs(problem, precision, seed)
    x, y = (torch.from_numpy(v).to(backend.device) for v in (drawn.x, drawn.y))
    output = y.clone()
    return Kernel(
        label=f"torch {problem.id}",
        run=lambda: output.add_(x, alpha=axpy_operands.A),
        synchronise=backend.synchronise,
        reset=lambda: output.copy_(y),
        result=lambda: output.double().cpu().numpy(),
        peek=lambda index: output.double().cpu().numpy()[index],
        reference=axpy_operands.reference(problem, drawn, precision, operation),
        flops=problem.flops,
        bytes=problem.bytes(precision),
        notes=drawn.notes,
    )
