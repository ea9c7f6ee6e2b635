"""Decoder of the Llama 3 kind (Dubey et al., 2024, arXiv:2407.21783): scores of the next words.

Pre-normalised layers of grouped-query attention and SwiGLU, RMSNorm, rotary position embedding, and
the word vectors as the weights of the last layer.
"""

from collections.abc import Sequence

from torch import Tensor, nn
from torch.nn import functional

from deepbench_ops.models.transformer_layers import (
    GroupedAttention,
    SwiGlu,
    demand_grouped_queries,
    rotation_tables,
)
from deepbench_ops.problems.linear_layer import LinearLayer
from deepbench_ops.problems.problem import Problem

EPS = 1e-5
"""rms_norm_eps of Llama 3."""


class Layer(nn.Module):
    """Attention and MLP of normalised vectors, each added to its input; vectors (n, length, width)
    as input and output."""

    def __init__(self, width: int, heads: int, kv_heads: int, inside: int, start: int) -> None:
        super().__init__()
        self.attention_norm = nn.RMSNorm(width, eps=EPS)
        self.attention = GroupedAttention(width, heads, kv_heads, width // heads, EPS, start)
        self.mlp_norm = nn.RMSNorm(width, eps=EPS)
        self.mlp = SwiGlu(width, inside)

    def forward(
        self,
        words: Tensor,
        tables: tuple[Tensor, Tensor],
        cached: tuple[Tensor, Tensor] | None = None,
    ) -> Tensor:
        words = words + self.attention(self.attention_norm(words), tables, cached)
        return words + self.mlp(self.mlp_norm(words))


class Scores(nn.Module):
    """Products of vectors with the vectors of all words: (..., width) to (..., vocabulary)."""

    def forward(self, words: Tensor, table: Tensor) -> Tensor:
        return functional.linear(words, table)

    def problem(self, words: Tensor, table: Tensor) -> Problem:
        return LinearLayer(words.shape[:-1].numel(), *table.shape)


class Stack(nn.Module):
    """Word vectors and layers, the common part of all forms of a decoder.

    start: position of the first word.
    """

    tied = True
    """Whether the word vectors are also the weights of the last layer, which reads all of them."""

    def __init__(
        self,
        layers: int,
        width: int,
        heads: int,
        kv_heads: int,
        inside: int,
        vocabulary: int,
        theta: float,
        start: int = 0,
    ) -> None:
        demand_grouped_queries()
        super().__init__()
        self.start, self.size, self.theta = start, width // heads, theta
        self.words = nn.Embedding(vocabulary, width)
        self.layers = nn.ModuleList(
            Layer(width, heads, kv_heads, inside, start) for _ in range(layers)
        )
        self.normalised = nn.RMSNorm(width, eps=EPS)
        self.scores = Scores()

    def inside(
        self, words: Tensor, cached: Sequence[tuple[Tensor, Tensor]] | None = None
    ) -> Tensor:
        """Return the normalised vectors of all words after the layers, (n, length, width).

        cached: keys and values of earlier words, for each layer.
        """
        passed = self.words(words)
        tables = rotation_tables(passed, self.start, self.size, self.theta)
        for place, layer in enumerate(self.layers):
            passed = layer(passed, tables, None if cached is None else cached[place])
        return self.normalised(passed)


class Decoder(Stack):
    """Words (n, length) to scores (n, length, vocabulary) of each next word."""

    def forward(self, words: Tensor) -> Tensor:
        return self.scores(self.inside(words), self.words.weight)


class Prefill(Stack):
    """Prompts (n, length) to scores (n, vocabulary) of the next word."""

    def forward(self, words: Tensor) -> Tensor:
        return self.scores(self.inside(words)[:, -1], self.words.weight)


class DecodeStep(Stack):
    """One word (n, 1) with keys and values of `start` earlier words to scores (n, vocabulary).

    Keys and values are (n, layers, kv_heads, start, size) each. Each layer concatenates those of
    the new word in new memory, as DynamicCache of the transformers library does.
    """

    def forward(self, words: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        cached = list(zip(keys.unbind(1), values.unbind(1), strict=True))
        return self.scores(self.inside(words, cached)[:, -1], self.words.weight)
