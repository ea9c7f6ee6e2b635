"""Softmax in torch: F.softmax over the last axis."""

import torch
from torch.nn import functional as F

from deepbench_ops.backends.families import softmax
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.torch_backend import differentiable
from deepbench_ops.backends.torch_backend.device import TorchDevice
from deepbench_ops.problems.softmax import Softmax


def build(
    backend: TorchDevice, problem: Softmax, precision: str, operation: str, seed: int
) -> Kernel:
    """Prepare a pass."""

    def over_rows(x: torch.Tensor) -> torch.Tensor:
        return F.softmax(x, dim=-1)

    drawn = softmax.inputs(problem, precision, seed)
    route = "torch.nn.functional.softmax"
    return differentiable.kernel(backend, problem, precision, operation, drawn, over_rows, route)
