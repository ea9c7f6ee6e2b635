"""Linear layer and cross-entropy in torch: as two functions, and as F.linear_cross_entropy."""

import torch
from torch.nn import functional as F

from deepbench_ops.backends.families import linear_cross_entropy
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.torch_backend import differentiable
from deepbench_ops.backends.torch_backend.device import TorchDevice
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.linear_cross_entropy import LinearCrossEntropy
from deepbench_ops.problems.selections import FUSED


def build(
    backend: TorchDevice, problem: LinearCrossEntropy, precision: str, operation: str, seed: int
) -> Kernel:
    """Prepare the forward or backward pass; raise Unsupported for fused ones before torch 2.13."""
    fused = operation.startswith(FUSED)
    if fused and not hasattr(F, "linear_cross_entropy"):
        raise Unsupported(f"torch {torch.__version__} has no linear_cross_entropy")

    def separate(x: torch.Tensor, weight: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(F.linear(x, weight).float(), targets)

    def together(x: torch.Tensor, weight: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return F.linear_cross_entropy(x, weight, targets)

    route = "linear_cross_entropy" if fused else "linear, then cross_entropy in float32"
    return differentiable.kernel(
        backend,
        problem,
        precision,
        operation,
        linear_cross_entropy.inputs(problem, precision, seed),
        together if fused else separate,
        f"torch.nn.functional.{route}",
    )
