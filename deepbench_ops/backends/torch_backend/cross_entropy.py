"""Cross-entropy in torch: F.cross_entropy."""

import torch
from torch.nn import functional as F

from deepbench_ops.backends.families import cross_entropy
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.torch_backend import differentiable
from deepbench_ops.backends.torch_backend.device import TorchDevice
from deepbench_ops.problems.cross_entropy import CrossEntropy


def build(
    backend: TorchDevice, problem: CrossEntropy, precision: str, operation: str, seed: int
) -> Kernel:
    """Prepare a pass."""

    def loss(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(logits, targets)

    route = "torch.nn.functional.cross_entropy"
    drawn = cross_entropy.inputs(problem, precision, seed)
    return differentiable.kernel(backend, problem, precision, operation, drawn, loss, route)
