"""MobileNetV2 (Sandler et al., 2018, arXiv:1801.04381), width 1.0."""

from collections.abc import Sequence

from torch import Tensor, nn
from torch.nn import functional

from deepbench_ops.models.layers import convolved

STAGES = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)
"""Table 2 of the paper: expansion, channels, number of blocks, stride of the first block."""


class Block(nn.Module):
    """1x1 convolution that expands, 3x3 convolution of each channel, 1x1 convolution that narrows;
    added to the input where both have the same shape.

    Images (n, given, h, w) to (n, made, h / stride, w / stride).
    """

    def __init__(self, given: int, made: int, stride: int, expansion: int) -> None:
        super().__init__()
        inside = given * expansion
        self.widen = convolved(given, inside, 1) if expansion > 1 else None
        self.filter = convolved(inside, inside, 3, stride, groups=inside)
        self.narrow = convolved(inside, made, 1)
        self.added = stride == 1 and given == made

    def forward(self, images: Tensor) -> Tensor:
        inside = images if self.widen is None else functional.relu6(self.widen(images))
        made: Tensor = self.narrow(functional.relu6(self.filter(inside)))
        return images + made if self.added else made


class MobileNetV2(nn.Module):
    """Images (n, 3, h, w) to scores (n, classes)."""

    def __init__(
        self, stages: Sequence[Sequence[int]] = STAGES, classes: int = 1000, dropout: float = 0.2
    ) -> None:
        super().__init__()
        self.stem = convolved(3, 32, 3, 2)
        blocks: list[nn.Module] = []
        given = 32
        for expansion, made, count, first_stride in stages:
            for block in range(count):
                blocks.append(Block(given, made, 1 if block else first_stride, expansion))
                given = made
        self.blocks = nn.Sequential(*blocks)
        self.head = convolved(given, 1280, 1)
        self.dropped = nn.Dropout(dropout)
        self.scores = nn.Linear(1280, classes)

    def forward(self, images: Tensor) -> Tensor:
        inside = self.blocks(functional.relu6(self.stem(images)))
        inside = functional.relu6(self.head(inside)).mean((2, 3))
        return self.scores(self.dropped(inside))
