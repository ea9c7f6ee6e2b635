"""KL divergence in torch: F.kl_div with the mean over the batch."""

import torch
from torch.nn import functional as F

from deepbench_ops.backends.families import kl_div
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.torch_backend import differentiable
from deepbench_ops.backends.torch_backend.device import TorchDevice
from deepbench_ops.problems.kl_div import KlDiv


def build(
    backend: TorchDevice, problem: KlDiv, precision: str, operation: str, seed: int
) -> Kernel:
    """Prepare a pass."""

    def loss(predicted: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
        return F.kl_div(predicted, wanted, reduction="batchmean")

    route = "torch.nn.functional.kl_div(reduction=batchmean)"
    drawn = kl_div.inputs(problem, precision, seed)
    return differentiable.kernel(backend, problem, precision, operation, drawn, loss, route)
