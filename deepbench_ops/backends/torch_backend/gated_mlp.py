"""A gated MLP in torch: three F.linear, F.silu or F.gelu by tanh, and a product."""

import torch
from torch.nn import functional as F

from deepbench_ops.backends.families import gated_mlp
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.torch_backend import differentiable
from deepbench_ops.backends.torch_backend.device import TorchDevice
from deepbench_ops.problems.gated_mlp import GatedMlp


def build(
    backend: TorchDevice, problem: GatedMlp, precision: str, operation: str, seed: int
) -> Kernel:
    """Prepare a pass."""
    silu = problem.activation == "swiglu"

    def activation(x: torch.Tensor) -> torch.Tensor:
        return F.silu(x) if silu else F.gelu(x, approximate="tanh")

    def mlp(
        x: torch.Tensor, gate: torch.Tensor, up: torch.Tensor, down: torch.Tensor
    ) -> torch.Tensor:
        return F.linear(activation(F.linear(x, gate)) * F.linear(x, up), down)

    route = "torch.nn.functional.linear, silu or gelu(tanh), mul"
    drawn = gated_mlp.inputs(problem, precision, seed)
    return differentiable.kernel(backend, problem, precision, operation, drawn, mlp, route)
