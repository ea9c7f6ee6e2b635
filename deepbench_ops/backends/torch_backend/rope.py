"""Rotary position embedding in torch, in the form of the transformers library."""

import torch

from deepbench_ops.backends.families import rope
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.torch_backend import differentiable
from deepbench_ops.backends.torch_backend.device import TorchDevice
from deepbench_ops.problems.rope import Rope


def build(backend: TorchDevice, problem: Rope, precision: str, operation: str, seed: int) -> Kernel:
    """Prepare a pass."""

    def turned(x: torch.Tensor, cosines: torch.Tensor, sines: torch.Tensor) -> torch.Tensor:
        first, second = x.chunk(2, dim=-1)
        return x * cosines + torch.cat((-second, first), dim=-1) * sines

    def rotate(
        queries: torch.Tensor, keys: torch.Tensor, cosines: torch.Tensor, sines: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        return turned(queries, cosines, sines), turned(keys, cosines, sines)

    route = "x * cos + torch.cat((-x2, x1)) * sin, of queries and keys"
    drawn = rope.inputs(problem, precision, seed)
    return differentiable.kernel(backend, problem, precision, operation, drawn, rotate, route)
