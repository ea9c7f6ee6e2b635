"""The LSTM of film reviews in MindSpore; see `models.sentiment_lstm`."""

from mindspore import Tensor, nn, ops


class SentimentLSTM(nn.Cell):
    """Words (n, length) as integers to scores (n, 2)."""

    def __init__(
        self, vocabulary: int, width: int = 300, hidden: int = 100, layers: int = 2
    ) -> None:
        super().__init__()
        self.words = nn.Embedding(vocabulary, width)
        self.words.embedding_table.requires_grad = False
        self.recurrent = nn.LSTM(width, hidden, layers, bidirectional=True)
        self.scores = nn.Dense(4 * hidden, 2)

    def construct(self, words: Tensor) -> Tensor:
        states, _ = self.recurrent(self.words(words.swapaxes(0, 1)))
        return self.scores(ops.cat((states[0], states[-1]), 1))
