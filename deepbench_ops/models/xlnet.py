"""XLNet (Yang et al., 2019, arXiv:1906.08237) as a classifier, with the content stream only."""

import torch
from torch import Tensor, nn
from torch.nn import functional

DROPOUT = 0.1


class RelativeAttention(nn.Module):
    """Self-attention whose scores also depend on the distance and the segments of two words.

    Scores are the sum of three products of the queries: with the keys, with sines and cosines of
    the distance, and with one of two vectors, for the same and for another segment. The queries of
    each product have their own bias.
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        size = width // heads
        self.query = nn.Parameter(torch.empty(width, heads, size))
        self.key = nn.Parameter(torch.empty(width, heads, size))
        self.value = nn.Parameter(torch.empty(width, heads, size))
        self.distance = nn.Parameter(torch.empty(width, heads, size))
        self.projected = nn.Parameter(torch.empty(width, heads, size))
        self.word_bias = nn.Parameter(torch.empty(heads, size))
        self.distance_bias = nn.Parameter(torch.empty(heads, size))
        self.segment_bias = nn.Parameter(torch.empty(heads, size))
        self.segments = nn.Parameter(torch.empty(2, heads, size))
        self.dropped = nn.Dropout(DROPOUT)
        self.normalised = nn.LayerNorm(width, eps=1e-12)
        self.scale = size**-0.5

    def forward(self, words: Tensor, waves: Tensor, apart: Tensor) -> Tensor:
        query = torch.einsum("nlw,whs->nlhs", words, self.query)
        key = torch.einsum("nlw,whs->nlhs", words, self.key)
        value = torch.einsum("nlw,whs->nlhs", words, self.value)
        distance = torch.einsum("lw,whs->lhs", waves, self.distance)
        by_word = torch.einsum("nihs,njhs->nhij", query + self.word_bias, key)
        by_distance = torch.einsum("nihs,jhs->nhij", query + self.distance_bias, distance)
        by_segment = torch.einsum("nihs,ghs->nhig", query + self.segment_bias, self.segments)
        chosen = by_segment.gather(3, apart[:, None].expand(-1, by_segment.shape[1], -1, -1))
        scores = by_word + _shifted(by_distance, words.shape[1]) + chosen
        seen = self.dropped(torch.softmax(scores * self.scale, 3))
        joined = torch.einsum("nhij,njhs->nihs", seen, value)
        made = torch.einsum("nihs,whs->niw", joined, self.projected)
        return self.normalised(words + self.dropped(made))


class Layer(nn.Module):
    """Attention, then two fully connected layers with GELU between them.

    Input and output are vectors (n, length, width).
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.attention = RelativeAttention(width, heads)
        self.widened = nn.Linear(width, 4 * width)
        self.narrowed = nn.Linear(4 * width, width)
        self.dropped = nn.Dropout(DROPOUT)
        self.normalised = nn.LayerNorm(width, eps=1e-12)

    def forward(self, words: Tensor, waves: Tensor, apart: Tensor) -> Tensor:
        seen = self.attention(words, waves, apart)
        inside = self.dropped(functional.gelu(self.widened(seen)))
        return self.normalised(seen + self.dropped(self.narrowed(inside)))


class XLNet(nn.Module):
    """Words and segments, both (n, length) of integers, to scores (n, 2), computed from the last
    word."""

    def __init__(self, layers: int, width: int, heads: int, vocabulary: int) -> None:
        super().__init__()
        self.words = nn.Embedding(vocabulary, width)
        self.dropped = nn.Dropout(DROPOUT)
        self.layers = nn.ModuleList(Layer(width, heads) for _ in range(layers))
        self.summary = nn.Linear(width, width)
        self.scores = nn.Linear(width, 2)

    def forward(self, words: Tensor, segments: Tensor) -> Tensor:
        inside = self.dropped(self.words(words))
        waves = self.dropped(_waves(words.shape[1], inside))
        apart = (segments[:, :, None] != segments[:, None, :]).long()
        for layer in self.layers:
            inside = layer(inside, waves, apart)
        return self.scores(self.dropped(torch.tanh(self.summary(self.dropped(inside[:, -1])))))


def _waves(length: int, like: Tensor) -> Tensor:
    """Return sines and cosines (2 · length, width) of the distances length ... 1 - length."""
    width = like.shape[2]
    distances = torch.arange(length, -length, -1, device=like.device, dtype=torch.float32)
    steps = torch.arange(0, width, 2, device=like.device, dtype=torch.float32) / width
    angles = distances[:, None] / 10000**steps
    return torch.cat([angles.sin(), angles.cos()], 1).to(like.dtype)


def _shifted(scores: Tensor, length: int) -> Tensor:
    """Return the scores (n, heads, i, 2 · length) by distance as (n, heads, i, j) by word.

    For word i, word j is at the distance i - j, which is column length - i + j. So every row begins
    one column earlier than the row above. The same memory, read with rows that are one column
    shorter, is shifted in this way.
    """
    n, heads, rows, columns = scores.shape
    turned = scores.reshape(n, heads, columns, rows)[:, :, 1:]
    return turned.reshape(n, heads, rows, columns - 1)[:, :, :, :length]
