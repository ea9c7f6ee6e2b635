"""One decoder layer with a mixture of experts, of the Qwen3 kind (2025, arXiv:2505.09388)."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from deepbench_ops.models.grouped_product import grouped_product
from deepbench_ops.models.transformer_layers import (
    GroupedAttention,
    demand_grouped_queries,
    rotation_tables,
)
from deepbench_ops.problems.moe_layer import MoeLayer
from deepbench_ops.problems.problem import Problem

EPS = 1e-6
"""rms_norm_eps of Qwen3."""


class Experts(nn.Module):
    """Σ p_e · D_e·(silu(G_e·x) * (U_e·x)) over the chosen experts e of each row x; rows (m, width).

    The experts with the `chosen` largest scores of the router are chosen, and p is the softmax of
    these scores. The matrices of all experts are stored in one matrix, one below the other.
    """

    def __init__(self, width: int, experts: int, chosen: int, inside: int) -> None:
        super().__init__()
        self.experts, self.chosen = experts, chosen
        self.router = nn.Linear(width, experts, bias=False)
        self.gate = nn.Parameter(torch.empty(experts * inside, width))
        self.up = nn.Parameter(torch.empty(experts * inside, width))
        self.down = nn.Parameter(torch.empty(experts * width, inside))

    def forward(self, rows: Tensor) -> Tensor:
        taken, experts = self.router(rows).topk(self.chosen)
        shares = torch.softmax(taken, 1, dtype=torch.promote_types(rows.dtype, torch.float32))
        owner = experts.flatten()
        order = owner.argsort(stable=True)
        sources = order // self.chosen
        given = rows[sources]
        ends = self._ends(owner)
        hidden = functional.silu(self._product(given, self.gate, ends))
        hidden = hidden * self._product(given, self.up, ends)
        made = self._product(hidden, self.down, ends) * shares.flatten()[order, None]
        total = torch.zeros(rows.shape, dtype=made.dtype, device=rows.device)
        return total.index_add_(0, sources, made).to(rows.dtype)

    def _ends(self, owner: Tensor) -> Tensor:
        """Return the end of the rows of each expert, int32.

        On the meta device, which computes no choice, all experts get about the same number of rows.
        """
        if owner.is_meta:
            each = torch.arange(1, self.experts + 1, dtype=torch.int32)
            return each * len(owner) // self.experts
        counts = torch.bincount(owner, minlength=self.experts)
        return counts.cumsum(0).to(torch.int32)

    def _product(self, rows: Tensor, matrices: Tensor, ends: Tensor) -> Tensor:
        """Return the product of each expert's rows with its matrix.

        torch's grouped product computes it; in float64 and on the meta device, where torch has
        none, one product for each expert.
        """
        stacked = matrices.unflatten(0, (self.experts, -1))
        if not rows.is_meta and rows.dtype != torch.float64:
            multiply, _ = grouped_product()
            return multiply(rows, stacked.transpose(1, 2), offs=ends)
        parts = rows.tensor_split(ends[:-1].tolist())
        return torch.cat([functional.linear(*each) for each in zip(parts, stacked, strict=True)])

    def problem(self, rows: Tensor) -> Problem:
        inside = len(self.gate) // self.experts
        return MoeLayer(len(rows), self.experts, rows.shape[1], inside, self.chosen)


class MixtureLayer(nn.Module):
    """Attention and experts of normalised vectors, each added to its input; vectors (n, length,
    width) as input and output."""

    def __init__(
        self,
        width: int,
        heads: int,
        kv_heads: int,
        size: int,
        experts: int,
        chosen: int,
        inside: int,
        theta: float,
    ) -> None:
        demand_grouped_queries()
        grouped_product()
        super().__init__()
        self.size, self.theta = size, theta
        self.attention_norm = nn.RMSNorm(width, eps=EPS)
        self.attention = GroupedAttention(width, heads, kv_heads, size, EPS, normalised=True)
        self.experts_norm = nn.RMSNorm(width, eps=EPS)
        self.experts = Experts(width, experts, chosen, inside)

    def forward(self, words: Tensor) -> Tensor:
        words = self._attended(words)
        rows = self.experts_norm(words).flatten(0, 1)
        return words + self.experts(rows).view(words.shape)

    def _attended(self, words: Tensor) -> Tensor:
        tables = rotation_tables(words, 0, self.size, self.theta)
        return words + self.attention(self.attention_norm(words), tables)

    def margins(self, words: Tensor) -> Tensor:
        """Return the smallest chosen score of the router minus the largest other one, divided by
        the root mean square of the scores: (n, length)."""
        scores = self.experts.router(self.experts_norm(self._attended(words)))
        best = scores.topk(self.experts.chosen + 1).values
        return (best[..., -2] - best[..., -1]) / scores.square().mean().sqrt()
