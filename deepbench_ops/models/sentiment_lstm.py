"""LSTM that classifies film reviews as good or bad: two layers in both directions."""

import torch
from torch import Tensor, nn


class SentimentLSTM(nn.Module):
    """Words (n, length) as integers to scores (n, 2).

    The word vectors are not trained. The scores are computed from the first and the last step of
    the upper layer, in both directions.
    """

    def __init__(
        self, vocabulary: int, width: int = 300, hidden: int = 100, layers: int = 2
    ) -> None:
        super().__init__()
        self.words = nn.Embedding(vocabulary, width)
        self.words.weight.requires_grad_(False)
        self.recurrent = nn.LSTM(width, hidden, layers, bidirectional=True)
        self.scores = nn.Linear(4 * hidden, 2)

    def forward(self, words: Tensor) -> Tensor:
        states, _ = self.recurrent(self.words(words.t()))
        return self.scores(torch.cat([states[0], states[-1]], 1))
