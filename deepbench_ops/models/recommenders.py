"""Recommenders: look-ups in tables of vectors, followed by small matrix products."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from deepbench_ops.models.layers import perceptron


class WideDeep(nn.Module):
    """Wide & Deep (Cheng et al., 2016, arXiv:1606.07792), as in MindSpore's model collection.

    Features (n, fields) as integers, and their values (n, fields), to scores (n,).
    """

    def __init__(self, fields: int, vocabulary: int, width: int, hidden: Sequence[int]) -> None:
        super().__init__()
        self.wide = nn.Embedding(vocabulary, 1)
        self.wide_bias = nn.Parameter(torch.zeros(1))
        self.deep = nn.Embedding(vocabulary, width)
        self.layers = perceptron((fields * width, *hidden, 1))

    def forward(self, features: Tensor, values: Tensor) -> Tensor:
        wide = (self.wide(features)[:, :, 0] * values).sum(1) + self.wide_bias
        deep = self.layers((self.deep(features) * values[:, :, None]).flatten(1))
        return wide + deep[:, 0]


class DeepFM(nn.Module):
    """DeepFM (Guo et al., 2017, arXiv:1703.04247).

    Features (n, fields) as integers, and their values (n, fields), to scores (n,): a linear part,
    the products of all pairs of fields, and fully connected layers, over the same vectors.
    """

    def __init__(
        self,
        fields: int,
        vocabulary: int,
        width: int,
        hidden: Sequence[int],
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        self.linear = nn.Embedding(vocabulary, 1)
        self.vectors = nn.Embedding(vocabulary, width)
        layers: list[nn.Module] = []
        for layer in perceptron((fields * width, *hidden, 1)):
            layers.append(layer)
            if isinstance(layer, nn.ReLU):
                layers.append(nn.Dropout(dropout))
        self.layers = nn.Sequential(*layers)

    def forward(self, features: Tensor, values: Tensor) -> Tensor:
        linear = (self.linear(features)[:, :, 0] * values).sum(1)
        vectors = self.vectors(features) * values[:, :, None]
        pairs = (vectors.sum(1) ** 2 - (vectors**2).sum(1)).sum(1) / 2
        return linear + pairs + self.layers(vectors.flatten(1))[:, 0]


class DLRM(nn.Module):
    """DLRM (Naumov et al., 2019, arXiv:1906.00091).

    Dense features (n, bottom[0]) and indices (n, tables, looked up) to scores (n,). The looked-up
    vectors of each table are summed. All pairs of these sums and of the vector of the dense
    features are multiplied.
    """

    def __init__(self, tables: int, rows: int, bottom: Sequence[int], top: Sequence[int]) -> None:
        super().__init__()
        width = bottom[-1]
        self.bottom = perceptron(bottom, last=nn.ReLU())
        self.tables = nn.ModuleList(
            nn.EmbeddingBag(rows, width, mode="sum", sparse=True) for _ in range(tables)
        )
        pairs = tables * (tables + 1) // 2
        self.top = perceptron((width + pairs, *top))
        first, second = torch.tril_indices(tables + 1, tables + 1, -1, device="cpu")
        self.pairs = list(zip(first.tolist(), second.tolist(), strict=True))

    def forward(self, dense: Tensor, indices: Tensor) -> Tensor:
        own = self.bottom(dense)
        vectors = [own, *(table(indices[:, i]) for i, table in enumerate(self.tables))]
        together = torch.stack(vectors, 1)
        products = torch.bmm(together, together.transpose(1, 2))
        first, second = torch.tensor(self.pairs, device=dense.device).t()
        return self.top(torch.cat([own, products[:, first, second]], 1))[:, 0]


class Tower(nn.Module):
    """Texts as sets of letter trigrams, (n, trigrams), to vectors (n, width)."""

    def __init__(self, vocabulary: int, hidden: int, width: int) -> None:
        super().__init__()
        self.trigrams = nn.EmbeddingBag(vocabulary, hidden, mode="sum")
        self.middle = nn.Linear(hidden, hidden)
        self.meaning = nn.Linear(hidden, width)

    def forward(self, trigrams: Tensor) -> Tensor:
        inside = torch.tanh(self.middle(torch.tanh(self.trigrams(trigrams))))
        return torch.tanh(self.meaning(inside))


class DSSM(nn.Module):
    """DSSM (Huang et al., 2013, doi:10.1145/2505515.2505665).

    Queries (n, trigrams) and documents (n, documents, trigrams) to similarities (n, documents): the
    cosines of the vectors of two towers.
    """

    def __init__(self, vocabulary: int, hidden: int = 300, width: int = 128) -> None:
        super().__init__()
        self.query = Tower(vocabulary, hidden, width)
        self.document = Tower(vocabulary, hidden, width)

    def forward(self, query: Tensor, documents: Tensor) -> Tensor:
        meant = self.query(query)[:, None]
        found = self.document(documents.flatten(0, 1)).unflatten(0, documents.shape[:2])
        return torch.cosine_similarity(meant, found, dim=2)


class MMoE(nn.Module):
    """MMoE (Ma et al., 2018, doi:10.1145/3219819.3220007).

    Features (n, features) to a score for each task, (n, tasks). All tasks share the experts, and
    each has its own gate that weighs them.
    """

    def __init__(self, features: int, experts: int, width: int, tasks: int, tower: int) -> None:
        super().__init__()
        self.experts = nn.Linear(features, experts * width)
        self.gates = nn.ModuleList(nn.Linear(features, experts) for _ in range(tasks))
        self.towers = nn.ModuleList(perceptron((width, tower, 1)) for _ in range(tasks))
        self.count = experts

    def forward(self, features: Tensor) -> Tensor:
        experts = torch.relu(self.experts(features)).unflatten(1, (self.count, -1))
        scores = []
        for gate, tower in zip(self.gates, self.towers, strict=True):
            weights = torch.softmax(gate(features), 1)
            scores.append(tower((weights[:, :, None] * experts).sum(1)))
        return torch.cat(scores, 1)
