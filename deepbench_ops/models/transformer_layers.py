"""Layers of modern decoders and vision transformers: attention, rotation, normalisation, MLP.

A layer that is an operation of a family in `problems` has a method `problem`, which returns the
problem of a call.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.attention import Attention
from deepbench_ops.problems.attention_decode import AttentionDecode
from deepbench_ops.problems.gated_mlp import GatedMlp
from deepbench_ops.problems.problem import Problem
from deepbench_ops.problems.rope import Rope


def demand_grouped_queries() -> None:
    """Raise Unsupported where torch has no attention of grouped queries (before 2.5)."""
    release = tuple(int(part) for part in torch.__version__.split(".")[:2])
    if release < (2, 5):
        raise Unsupported(
            f"torch {torch.__version__} has no attention with fewer heads of keys than of queries:"
            " decoders are measured from torch 2.5 on"
        )


class HeadAttention(nn.Module):
    """softmax(q·kᵀ / sqrt(size))·v for q (n, heads, queries, size) and k, v (n, kv_heads, keys,
    size), with a causal mask if `causal` and there are several queries."""

    def __init__(self, causal: bool) -> None:
        super().__init__()
        self.causal = causal

    def forward(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        grouped: dict[str, Any] = {"enable_gqa": True} if query.shape[1] != key.shape[1] else {}
        return functional.scaled_dot_product_attention(
            query, key, value, is_causal=self.causal and query.shape[2] > 1, **grouped
        )

    def problem(self, query: Tensor, key: Tensor, value: Tensor) -> Problem:
        n, heads, queries, size = query.shape
        kv_heads, keys = key.shape[1:3]
        sizes = (n, heads, kv_heads, queries, keys, size, value.shape[3])
        if queries < keys:
            return AttentionDecode(*sizes)
        return Attention(*sizes, causal=self.causal)


class Rotation(nn.Module):
    """Rotary position embedding of queries and keys, (n, heads, length, size) each.

    start: first position.
    """

    def __init__(self, start: int) -> None:
        super().__init__()
        self.start = start

    def forward(
        self, query: Tensor, key: Tensor, cosines: Tensor, sines: Tensor
    ) -> tuple[Tensor, Tensor]:
        return _turned(query, cosines, sines), _turned(key, cosines, sines)

    def problem(self, query: Tensor, key: Tensor, *tables: Tensor) -> Problem:
        n, heads, length, size = query.shape
        return Rope(n, length, heads, key.shape[1], size, self.start)


def _turned(given: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
    first, second = given.chunk(2, dim=-1)
    return given * cosines + torch.cat((-second, first), dim=-1) * sines


def rotation_tables(like: Tensor, start: int, size: int, theta: float) -> tuple[Tensor, Tensor]:
    """Return cosines and sines of the angles of all positions, (length, size) each.

    like: tensor (n, length, ...) whose device and type they get; angles are computed in float32.
    """
    places = torch.arange(start, start + like.shape[1], device=like.device, dtype=torch.float32)
    powers = torch.arange(0, size, 2, device=like.device, dtype=torch.float32) / size
    angles = places[:, None] * theta**-powers
    angles = torch.cat((angles, angles), dim=-1)
    return angles.cos().to(like.dtype), angles.sin().to(like.dtype)


class GroupedAttention(nn.Module):
    """Causal self-attention with `kv_heads` heads of keys and values, without biases.

    Input and output are vectors (n, length, width). cached: keys and values of earlier words, each
    (n, kv_heads, earlier, size). normalised: whether queries and keys of each head are normalised
    by an RMSNorm.
    """

    def __init__(
        self,
        width: int,
        heads: int,
        kv_heads: int,
        size: int,
        eps: float,
        start: int = 0,
        normalised: bool = False,
    ) -> None:
        super().__init__()
        self.size = size
        self.query = nn.Linear(width, heads * size, bias=False)
        self.key = nn.Linear(width, kv_heads * size, bias=False)
        self.value = nn.Linear(width, kv_heads * size, bias=False)
        self.projected = nn.Linear(heads * size, width, bias=False)
        self.query_norm = nn.RMSNorm(size, eps=eps) if normalised else nn.Identity()
        self.key_norm = nn.RMSNorm(size, eps=eps) if normalised else nn.Identity()
        self.rotated = Rotation(start)
        self.seen = HeadAttention(causal=True)

    def forward(
        self,
        words: Tensor,
        tables: tuple[Tensor, Tensor],
        cached: tuple[Tensor, Tensor] | None = None,
    ) -> Tensor:
        query = self.query_norm(self._split(self.query(words))).transpose(1, 2)
        key = self.key_norm(self._split(self.key(words))).transpose(1, 2)
        value = self._split(self.value(words)).transpose(1, 2)
        query, key = self.rotated(query, key, *tables)
        if cached is not None:
            key = torch.cat((cached[0], key), dim=2)
            value = torch.cat((cached[1], value), dim=2)
        seen = self.seen(query, key, value)
        return self.projected(seen.transpose(1, 2).flatten(2))

    def _split(self, words: Tensor) -> Tensor:
        return words.unflatten(2, (-1, self.size))


class SwiGlu(nn.Module):
    """(silu(x·Gᵀ) * (x·Uᵀ))·Dᵀ with matrices of width x inside, without biases."""

    def __init__(self, width: int, inside: int) -> None:
        super().__init__()
        self.gate = nn.Linear(width, inside, bias=False)
        self.up = nn.Linear(width, inside, bias=False)
        self.down = nn.Linear(inside, width, bias=False)

    def forward(self, words: Tensor) -> Tensor:
        return self.down(functional.silu(self.gate(words)) * self.up(words))

    def problem(self, words: Tensor) -> Problem:
        inside, width = self.gate.weight.shape
        return GatedMlp("swiglu", words.shape[:-1].numel(), width, inside)
