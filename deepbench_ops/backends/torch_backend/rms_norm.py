"""RMSNorm in torch: F.rms_norm, after an addition where there is a residual."""

from functools import partial

import torch
from torch.nn import functional as F

from deepbench_ops.backends.families import rms_norm
from deepbench_ops.backends.families.rms_norm import EPSILON
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.torch_backend import differentiable
from deepbench_ops.backends.torch_backend.device import TorchDevice
from deepbench_ops.problems.rms_norm import RmsNorm


def build(
    backend: TorchDevice, problem: RmsNorm, precision: str, operation: str, seed: int
) -> Kernel:
    """Prepare the forward or backward pass.

    Raises AttributeError before torch 2.4, which `TorchDevice.lacks` recognises.
    """
    normalise = partial(F.rms_norm, normalized_shape=(problem.hidden,), eps=EPSILON)

    def plain(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return normalise(x, weight=weight)

    def added(
        x: torch.Tensor, weight: torch.Tensor, residual: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        total = x + residual
        return normalise(total, weight=weight), total

    return differentiable.kernel(
        backend,
        problem,
        precision,
        operation,
        rms_norm.inputs(problem, precision, seed),
        added if problem.added else plain,
        "torch.add, then torch.nn.functional.rms_norm"
        if problem.added
        else "torch.nn.functional.rms_norm",
    )
