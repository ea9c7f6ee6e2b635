"""Embedding in torch: F.embedding, with a dense gradient."""

from functools import cache

import torch
from torch.nn import functional as F

from deepbench_ops.backends.families import embedding
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.torch_backend import differentiable
from deepbench_ops.backends.torch_backend.accumulation_width import ONES, all_counted, refused
from deepbench_ops.backends.torch_backend.device import TorchDevice
from deepbench_ops.backends.torch_backend.tensors import DTYPES
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.embedding import Embedding


def build(
    backend: TorchDevice, problem: Embedding, precision: str, operation: str, seed: int
) -> Kernel:
    """Prepare the forward or backward pass; raise Unsupported for gradients summed in 16 bits."""
    if operation == "backward" and not adds_up_exactly(DTYPES[precision], backend.device):
        raise Unsupported(refused("the gradients of a row", precision, backend.device))

    def look_up(table: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        return F.embedding(tokens, table)

    route = "torch.nn.functional.embedding"
    drawn = embedding.inputs(problem, precision, seed)
    return differentiable.kernel(backend, problem, precision, operation, drawn, look_up, route)


@cache
def adds_up_exactly(dtype: torch.dtype, device: str) -> bool:
    """Return whether torch adds up the gradients of a row in 32 bits, by a trial."""
    table = torch.zeros((2, 8), dtype=dtype, device=device).requires_grad_()
    tokens = torch.zeros((ONES,), dtype=torch.int64, device=device)
    return all_counted(F.embedding(tokens, table), table)
