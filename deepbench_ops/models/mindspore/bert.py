"""BERT in MindSpore, with the head of its pretraining; see `models.bert`."""

import math

from mindspore import Parameter, Tensor, nn, ops

DROPOUT = 0.1
PLACES = 512


class Attention(nn.Cell):
    """Self-attention with several heads; its projection is added to the input and normalised."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Dense(width, width)
        self.key = nn.Dense(width, width)
        self.value = nn.Dense(width, width)
        self.projected = nn.Dense(width, width)
        self.dropped = nn.Dropout(p=DROPOUT)
        self.normalised = nn.LayerNorm((width,), epsilon=1e-12)

    def construct(self, words: Tensor) -> Tensor:
        query, key, value = (
            self._split(part(words)) for part in (self.query, self.key, self.value)
        )
        likeness = ops.matmul(query, key.swapaxes(2, 3)) / math.sqrt(query.shape[3])
        seen = ops.matmul(self.dropped(ops.softmax(likeness, -1)), value)
        joined = seen.swapaxes(1, 2).reshape(words.shape)
        return self.normalised(words + self.dropped(self.projected(joined)))

    def _split(self, words: Tensor) -> Tensor:
        n, length, width = words.shape
        return words.reshape((n, length, self.heads, width // self.heads)).swapaxes(1, 2)


class Layer(nn.Cell):
    """Attention, then two fully connected layers with GELU between them."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.attention = Attention(width, heads)
        self.widened = nn.Dense(width, 4 * width)
        self.narrowed = nn.Dense(4 * width, width)
        self.dropped = nn.Dropout(p=DROPOUT)
        self.normalised = nn.LayerNorm((width,), epsilon=1e-12)

    def construct(self, words: Tensor) -> Tensor:
        seen = self.attention(words)
        inside = self.narrowed(ops.gelu(self.widened(seen), approximate="none"))
        return self.normalised(seen + self.dropped(inside))


class Encoder(nn.Cell):
    """Words and segments, both (n, length) of integers, to vectors (n, length, width)."""

    def __init__(self, layers: int, width: int, heads: int, vocabulary: int) -> None:
        super().__init__()
        self.words = nn.Embedding(vocabulary, width)
        self.places = nn.Embedding(PLACES, width)
        self.segments = nn.Embedding(2, width)
        self.normalised = nn.LayerNorm((width,), epsilon=1e-12)
        self.dropped = nn.Dropout(p=DROPOUT)
        self.layers = nn.SequentialCell(*(Layer(width, heads) for _ in range(layers)))

    def construct(self, words: Tensor, segments: Tensor) -> Tensor:
        places = self.places(ops.arange(words.shape[1]))
        inside = self.words(words) + self.segments(segments) + places
        return self.layers(self.dropped(self.normalised(inside)))


class Pretraining(nn.Cell):
    """Pairs of sentences to scores of the masked words, and of whether the second sentence
    follows."""

    def __init__(self, layers: int, width: int, heads: int, vocabulary: int) -> None:
        super().__init__()
        self.encoder = Encoder(layers, width, heads, vocabulary)
        self.pooled = nn.Dense(width, width)
        self.following = nn.Dense(width, 2)
        self.guessing = nn.Dense(width, width)
        self.guess_normalised = nn.LayerNorm((width,), epsilon=1e-12)
        self.guess_bias = Parameter(ops.zeros(vocabulary))

    def construct(self, words: Tensor, segments: Tensor, masked: Tensor) -> tuple[Tensor, Tensor]:
        inside = self.encoder(words, segments)
        width = inside.shape[2]
        places = masked.expand_dims(2).broadcast_to((*masked.shape, width))
        hidden = inside.gather_elements(1, places).reshape((-1, width))
        hidden = self.guess_normalised(ops.gelu(self.guessing(hidden), approximate="none"))
        table = self.encoder.words.embedding_table
        guessed = ops.matmul(hidden, table.swapaxes(0, 1)) + self.guess_bias
        return guessed, self.following(ops.tanh(self.pooled(inside[:, 0])))
