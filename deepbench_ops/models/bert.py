"""BERT (Devlin et al., 2018, arXiv:1810.04805), with a head for each use of it in the tables."""

import torch
from torch import Tensor, nn
from torch.nn import functional

DROPOUT = 0.1
PLACES = 512
"""Number of position vectors, and so the largest length of a text."""


class Attention(nn.Module):
    """Self-attention with several heads; its projection is added to the input and normalised.

    Input and output are vectors (n, length, width).
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.projected = nn.Linear(width, width)
        self.dropped = nn.Dropout(DROPOUT)
        self.normalised = nn.LayerNorm(width, eps=1e-12)

    def forward(self, words: Tensor) -> Tensor:
        query, key, value = (
            self._split(part(words)) for part in (self.query, self.key, self.value)
        )
        dropout = self.dropped.p if self.training else 0.0
        seen = functional.scaled_dot_product_attention(query, key, value, dropout_p=dropout)
        joined = seen.transpose(1, 2).reshape(words.shape)
        return self.normalised(words + self.dropped(self.projected(joined)))

    def _split(self, words: Tensor) -> Tensor:
        n, length, width = words.shape
        return words.reshape(n, length, self.heads, width // self.heads).transpose(1, 2)


class Layer(nn.Module):
    """Attention, then two fully connected layers with GELU between them.

    Input and output are vectors (n, length, width).
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.attention = Attention(width, heads)
        self.widened = nn.Linear(width, 4 * width)
        self.narrowed = nn.Linear(4 * width, width)
        self.dropped = nn.Dropout(DROPOUT)
        self.normalised = nn.LayerNorm(width, eps=1e-12)

    def forward(self, words: Tensor) -> Tensor:
        seen = self.attention(words)
        inside = self.narrowed(functional.gelu(self.widened(seen)))
        return self.normalised(seen + self.dropped(inside))


class Encoder(nn.Module):
    """Words and segments, both (n, length) of integers, to vectors (n, length, width)."""

    def __init__(self, layers: int, width: int, heads: int, vocabulary: int) -> None:
        super().__init__()
        self.words = nn.Embedding(vocabulary, width)
        self.places = nn.Embedding(PLACES, width)
        self.segments = nn.Embedding(2, width)
        self.normalised = nn.LayerNorm(width, eps=1e-12)
        self.dropped = nn.Dropout(DROPOUT)
        self.layers = nn.Sequential(*(Layer(width, heads) for _ in range(layers)))

    def forward(self, words: Tensor, segments: Tensor) -> Tensor:
        places = torch.arange(words.shape[1], device=words.device)
        inside = self.words(words) + self.segments(segments) + self.places(places)
        return self.layers(self.dropped(self.normalised(inside)))


class Classifier(nn.Module):
    """Sentences to scores (n, 2), computed from the vector of the first word."""

    def __init__(self, layers: int, width: int, heads: int, vocabulary: int) -> None:
        super().__init__()
        self.encoder = Encoder(layers, width, heads, vocabulary)
        self.pooled = nn.Linear(width, width)
        self.dropped = nn.Dropout(DROPOUT)
        self.scores = nn.Linear(width, 2)

    def forward(self, words: Tensor, segments: Tensor) -> Tensor:
        first = self.encoder(words, segments)[:, 0]
        return self.scores(self.dropped(torch.tanh(self.pooled(first))))


class Answering(nn.Module):
    """Question and text to scores (n, length, 2) of the begin and the end of the answer."""

    def __init__(self, layers: int, width: int, heads: int, vocabulary: int) -> None:
        super().__init__()
        self.encoder = Encoder(layers, width, heads, vocabulary)
        self.scores = nn.Linear(width, 2)

    def forward(self, words: Tensor, segments: Tensor) -> Tensor:
        return self.scores(self.encoder(words, segments))


class Pretraining(nn.Module):
    """Pairs of sentences to scores of the masked words, and of whether the second sentence follows.

    Takes words and segments (n, length) and the positions of the masked words (n, guessed). Returns
    scores (n · guessed, vocabulary), whose last layer has the word vectors as weights, and scores
    (n, 2).
    """

    def __init__(self, layers: int, width: int, heads: int, vocabulary: int) -> None:
        super().__init__()
        self.encoder = Encoder(layers, width, heads, vocabulary)
        self.pooled = nn.Linear(width, width)
        self.following = nn.Linear(width, 2)
        self.guessing = nn.Linear(width, width)
        self.guess_normalised = nn.LayerNorm(width, eps=1e-12)
        self.guess_bias = nn.Parameter(torch.zeros(vocabulary))

    def forward(self, words: Tensor, segments: Tensor, masked: Tensor) -> tuple[Tensor, Tensor]:
        inside = self.encoder(words, segments)
        width = inside.shape[2]
        hidden = inside.gather(1, masked[:, :, None].expand(-1, -1, width)).reshape(-1, width)
        hidden = self.guess_normalised(functional.gelu(self.guessing(hidden)))
        guessed = functional.linear(hidden, self.encoder.words.weight, self.guess_bias)
        return guessed, self.following(torch.tanh(self.pooled(inside[:, 0])))
