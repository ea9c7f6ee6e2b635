"""GELU in torch: F.gelu, its exact form."""

from torch.nn import functional as F

from deepbench_ops.backends.families import gelu
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.torch_backend import differentiable
from deepbench_ops.backends.torch_backend.device import TorchDevice
from deepbench_ops.problems.gelu import Gelu


def build(backend: TorchDevice, problem: Gelu, precision: str, operation: str, seed: int) -> Kernel:
    """Prepare a pass."""
    drawn = gelu.inputs(problem, precision, seed)
    route = "torch.nn.functional.gelu"
    return differentiable.kernel(
        backend, problem, precision, operation, drawn, lambda x: F.gelu(x), route
    )
