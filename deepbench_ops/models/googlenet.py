"""GoogLeNet (Szegedy et al., 2014, arXiv:1409.4842), normalised, without its auxiliary outputs."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from deepbench_ops.models.layers import rectified

STAGES = (
    ((64, 96, 128, 16, 32, 32), (128, 128, 192, 32, 96, 64)),
    (
        (192, 96, 208, 16, 48, 64),
        (160, 112, 224, 24, 64, 64),
        (128, 128, 256, 24, 64, 64),
        (112, 144, 288, 32, 64, 64),
        (256, 160, 320, 32, 128, 128),
    ),
    ((256, 160, 320, 32, 128, 128), (384, 192, 384, 48, 128, 128)),
)
"""The paper's table 1, modules 3a to 5b: #1x1, #3x3 reduce, #3x3, #5x5 reduce, #5x5, pool proj."""


class Inception(nn.Module):
    """Four branches side by side, their channels joined."""

    def __init__(self, given: int, widths: Sequence[int]) -> None:
        super().__init__()
        one, three_reduced, three, five_reduced, five, pooled = widths
        self.one = rectified(given, one, 1)
        self.three = nn.Sequential(
            rectified(given, three_reduced, 1), rectified(three_reduced, three, 3)
        )
        self.five = nn.Sequential(
            rectified(given, five_reduced, 1), rectified(five_reduced, five, 5)
        )
        self.pooled = rectified(given, pooled, 1)
        self.made = one + three + five + pooled

    def forward(self, images: Tensor) -> Tensor:
        pooled = self.pooled(functional.max_pool2d(images, 3, 1, 1))
        return torch.cat([self.one(images), self.three(images), self.five(images), pooled], 1)


class GoogLeNet(nn.Module):
    """Images (n, 3, h, w) to scores (n, classes)."""

    def __init__(
        self,
        stages: Sequence[Sequence[Sequence[int]]] = STAGES,
        classes: int = 10,
        dropout: float = 0.4,
    ) -> None:
        super().__init__()
        self.stem = rectified(3, 64, 7, 2)
        self.second = nn.Sequential(rectified(64, 64, 1), rectified(64, 192, 3))
        parts: list[nn.Module] = []
        given = 192
        for stage in stages:
            parts.append(nn.MaxPool2d(3, 2, 1))
            for widths in stage:
                module = Inception(given, widths)
                parts.append(module)
                given = module.made
        self.parts = nn.Sequential(*parts)
        self.dropped = nn.Dropout(dropout)
        self.scores = nn.Linear(given, classes)

    def forward(self, images: Tensor) -> Tensor:
        inside = functional.max_pool2d(self.stem(images), 3, 2, 1)
        inside = self.parts(self.second(inside))
        return self.scores(self.dropped(inside.mean((2, 3))))
