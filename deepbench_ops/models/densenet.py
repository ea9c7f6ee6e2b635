"""DenseNet (Huang et al., 2016, arXiv:1608.06993) with bottleneck layers and compression."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional


class Layer(nn.Module):
    """Normalisation, 1x1 convolution to 4 · growth channels, normalisation, 3x3 convolution to
    `growth` channels, which are concatenated to the input.

    Images (n, given, h, w) to (n, given + growth, h, w).
    """

    def __init__(self, given: int, growth: int) -> None:
        super().__init__()
        self.before = nn.BatchNorm2d(given)
        self.narrow = nn.Conv2d(given, 4 * growth, 1, bias=False)
        self.between = nn.BatchNorm2d(4 * growth)
        self.wide = nn.Conv2d(4 * growth, growth, 3, padding=1, bias=False)

    def forward(self, images: Tensor) -> Tensor:
        inside = self.narrow(functional.relu(self.before(images)))
        made = self.wide(functional.relu(self.between(inside)))
        return torch.cat([images, made], 1)


class Transition(nn.Module):
    """Images (n, given, h, w) to (n, given / 2, h / 2, w / 2)."""

    def __init__(self, given: int) -> None:
        super().__init__()
        self.before = nn.BatchNorm2d(given)
        self.narrow = nn.Conv2d(given, given // 2, 1, bias=False)

    def forward(self, images: Tensor) -> Tensor:
        return functional.avg_pool2d(self.narrow(functional.relu(self.before(images))), 2)


class DenseNet(nn.Module):
    """Images (n, 3, h, w) to scores (n, classes). blocks: number of layers in each block."""

    def __init__(self, blocks: Sequence[int], growth: int = 32, classes: int = 1000) -> None:
        super().__init__()
        width = 2 * growth
        self.stem = nn.Conv2d(3, width, 7, 2, 3, bias=False)
        self.stem_normalised = nn.BatchNorm2d(width)
        parts: list[nn.Module] = []
        for place, count in enumerate(blocks):
            if place:
                parts.append(Transition(width))
                width //= 2
            for _ in range(count):
                parts.append(Layer(width, growth))
                width += growth
        self.parts = nn.Sequential(*parts)
        self.normalised = nn.BatchNorm2d(width)
        self.scores = nn.Linear(width, classes)

    def forward(self, images: Tensor) -> Tensor:
        inside = functional.relu(self.stem_normalised(self.stem(images)))
        inside = self.parts(functional.max_pool2d(inside, 3, 2, 1))
        inside = functional.relu(self.normalised(inside))
        return self.scores(inside.mean((2, 3)))
