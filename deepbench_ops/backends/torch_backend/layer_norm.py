"""LayerNorm in torch: F.layer_norm with weight and bias."""

from functools import cache

import torch
from torch.nn import functional as F

from deepbench_ops.backends.families import layer_norm
from deepbench_ops.backends.families.layer_norm import EPSILON
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.torch_backend import differentiable
from deepbench_ops.backends.torch_backend.accumulation_width import ONES, all_counted, refused
from deepbench_ops.backends.torch_backend.device import TorchDevice
from deepbench_ops.backends.torch_backend.tensors import DTYPES
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.layer_norm import LayerNorm


def build(
    backend: TorchDevice, problem: LayerNorm, precision: str, operation: str, seed: int
) -> Kernel:
    """Prepare the forward or backward pass; raise Unsupported for gradients summed in 16 bits."""
    if operation == "backward" and not adds_up_exactly(DTYPES[precision], backend.device):
        raise Unsupported(refused("gradients of weight and bias", precision, backend.device))
    shape = (problem.hidden,)

    def normalise(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        return F.layer_norm(x, shape, weight, bias, EPSILON)

    drawn = layer_norm.inputs(problem, precision, seed)
    route = "torch.nn.functional.layer_norm"
    return differentiable.kernel(backend, problem, precision, operation, drawn, normalise, route)


@cache
def adds_up_exactly(dtype: torch.dtype, device: str) -> bool:
    """Return whether torch adds up the gradient of the bias in 32 bits, by a trial."""
    size = 8
    x = torch.linspace(-1, 1, ONES * size, device=device).reshape(ONES, size).to(dtype)
    weight = torch.ones(size, dtype=dtype, device=device)
    bias = torch.zeros_like(weight).requires_grad_()
    return all_counted(F.layer_norm(x, (size,), weight, bias, EPSILON), bias)
