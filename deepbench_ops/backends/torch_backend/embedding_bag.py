"""Embedding bags in torch: F.embedding_bag, sums, with a dense gradient."""

from functools import cache

import torch
from torch.nn import functional as F

from deepbench_ops.backends.families import embedding_bag
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.torch_backend import differentiable
from deepbench_ops.backends.torch_backend.accumulation_width import ONES, all_counted, refused
from deepbench_ops.backends.torch_backend.device import TorchDevice
from deepbench_ops.backends.torch_backend.tensors import DTYPES
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.embedding_bag import EmbeddingBag


def build(
    backend: TorchDevice, problem: EmbeddingBag, precision: str, operation: str, seed: int
) -> Kernel:
    """Prepare the forward or backward pass; raise Unsupported for gradients summed in 16 bits."""
    if operation == "backward" and not adds_up_exactly(DTYPES[precision], backend.device):
        raise Unsupported(refused("the gradients of a row", precision, backend.device))

    def sums(rows: torch.Tensor, bags: torch.Tensor) -> torch.Tensor:
        return F.embedding_bag(bags, rows, mode="sum")

    route = "torch.nn.functional.embedding_bag(mode=sum)"
    drawn = embedding_bag.inputs(problem, precision, seed)
    return differentiable.kernel(backend, problem, precision, operation, drawn, sums, route)


@cache
def adds_up_exactly(dtype: torch.dtype, device: str) -> bool:
    """Return whether torch adds up the gradients of a row in 32 bits, by a trial."""
    table = torch.zeros((2, 8), dtype=dtype, device=device).requires_grad_()
    tokens = torch.zeros((ONES // 2, 2), dtype=torch.int64, device=device)
    return all_counted(F.embedding_bag(tokens, table, mode="sum"), table)
