"""Tables of vectors split over the ranks; each rank has a range of rows."""

import torch
import torch.distributed as dist
import torch.distributed.nn.functional as shared
from torch import Tensor, nn


class SplitEmbedding(nn.Module):
    """Rows of a table by index, like nn.Embedding; each rank has an equal part of the table.

    Every rank gets the indices of all ranks and looks up the rows of its own part; the sum over the
    ranks is the result for all. Gradients are exchanged in the same way.
    """

    def __init__(self, table: nn.Embedding, rank: int, ranks: int) -> None:
        super().__init__()
        rows = -(-table.weight.shape[0] // ranks)
        self._first, self._rank, self._ranks = rank * rows, rank, ranks
        own = table.weight.detach()[self._first : self._first + rows].clone()
        self.weight = nn.Parameter(own)

    def forward(self, indices: Tensor) -> Tensor:
        """Return (n, fields, width) for the indices (n, fields) of this rank."""
        asked = [torch.empty_like(indices) for _ in range(self._ranks)]
        dist.all_gather(asked, indices.contiguous())
        local = torch.stack(asked) - self._first
        mine = (local >= 0) & (local < len(self.weight))
        found = nn.functional.embedding(local.where(mine, 0), self.weight)
        answered = shared.all_reduce(found * mine[..., None])
        return answered[self._rank]
