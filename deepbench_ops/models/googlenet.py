"""GoogLeNet (Szegedy et al., 2014, arXiv:1409.4842), normalised, without its auxiliary outputs."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from deepbench_ops.models.layers import rectified


class Inception(nn.Module):
    """Four parallel branches whose channels are concatenated.

    Images (n, given, h, w) to (n, sum of the branches' channels, h, w).
    """

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
    """Images (n, 3, h, w) to scores (n, classes).

    stages: the six widths of each module, as in table 1 of the paper.
    """

    def __init__(
        self,
        stages: Sequence[Sequence[Sequence[int]]],
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
