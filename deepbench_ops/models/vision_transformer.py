"""Vision transformer (Dosovitskiy et al., 2020, arXiv:2010.11929)."""

import torch
from torch import Tensor, nn

from deepbench_ops.models.transformer_layers import HeadAttention

EPS = 1e-6
"""Added to the variance: the value in the paper's code (google-research/vision_transformer) and in
torchvision."""


class Layer(nn.Module):
    """Attention, and two fully connected layers with GELU between them; both work on normalised
    vectors and are added to their input. Input and output are vectors (n, length, width)."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.attention_norm = nn.LayerNorm(width, eps=EPS)
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.seen = HeadAttention(causal=False)
        self.projected = nn.Linear(width, width)
        self.mlp_norm = nn.LayerNorm(width, eps=EPS)
        self.widened = nn.Linear(width, 4 * width)
        self.bent = nn.GELU()
        self.narrowed = nn.Linear(4 * width, width)

    def forward(self, patches: Tensor) -> Tensor:
        given = self.attention_norm(patches)
        heads = (self._split(part(given)) for part in (self.query, self.key, self.value))
        seen = self.seen(*heads).transpose(1, 2).flatten(2)
        patches = patches + self.projected(seen)
        return patches + self.narrowed(self.bent(self.widened(self.mlp_norm(patches))))

    def _split(self, patches: Tensor) -> Tensor:
        return patches.unflatten(2, (self.heads, -1)).transpose(1, 2)


class VisionTransformer(nn.Module):
    """Pictures (n, 3, picture, picture) to scores (n, classes), computed from a class vector."""

    def __init__(
        self, layers: int, width: int, heads: int, patch: int, picture: int, classes: int
    ) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.first = nn.Parameter(torch.empty(1, width))
        self.places = nn.Parameter(torch.empty((picture // patch) ** 2 + 1, width))
        self.layers = nn.Sequential(*(Layer(width, heads) for _ in range(layers)))
        self.normalised = nn.LayerNorm(width, eps=EPS)
        self.scores = nn.Linear(width, classes)

    def forward(self, pictures: Tensor) -> Tensor:
        patches = self.patches(pictures).flatten(2).transpose(1, 2)
        first = self.first.expand(len(pictures), 1, -1)
        patches = torch.cat((first, patches), dim=1) + self.places
        return self.scores(self.normalised(self.layers(patches)[:, 0]))
