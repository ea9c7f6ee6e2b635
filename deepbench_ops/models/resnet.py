"""ResNet (He et al., 2015, arXiv:1512.03385), with the stride of v1 or of v1.5."""

from collections.abc import Sequence

from torch import Tensor, nn
from torch.nn import functional

from deepbench_ops.models.layers import convolved

RESIDUAL_SCALE = 0.25
"""Initial scale of the last normalisation of a block. With a scale of 1 each random block would
double the variance, and float16 would overflow after thirty blocks."""


class Basic(nn.Module):
    """Two 3x3 convolutions with a shortcut.

    Images (n, given, h, w) to (n, width, h / stride, w / stride).
    """

    expansion = 1

    def __init__(self, given: int, width: int, stride: int, stride_first: bool) -> None:
        super().__init__()
        self.first = convolved(given, width, 3, stride)
        self.last = convolved(width, width, 3, scale=RESIDUAL_SCALE)
        self.shortcut = _shortcut(given, width, stride)

    def forward(self, images: Tensor) -> Tensor:
        inside = functional.relu(self.first(images))
        return functional.relu(self.last(inside) + self.shortcut(images))


class Bottleneck(nn.Module):
    """A 1x1, a 3x3 and a 1x1 convolution with a shortcut.

    Images (n, given, h, w) to (n, 4 · width, h / stride, w / stride). stride_first: whether the
    first 1x1 convolution has the stride, instead of the 3x3 convolution.
    """

    expansion = 4

    def __init__(self, given: int, width: int, stride: int, stride_first: bool) -> None:
        super().__init__()
        strides = (stride, 1) if stride_first else (1, stride)
        self.first = convolved(given, width, 1, strides[0])
        self.middle = convolved(width, width, 3, strides[1])
        self.last = convolved(width, 4 * width, 1, scale=RESIDUAL_SCALE)
        self.shortcut = _shortcut(given, 4 * width, stride)

    def forward(self, images: Tensor) -> Tensor:
        inside = functional.relu(self.first(images))
        inside = functional.relu(self.middle(inside))
        return functional.relu(self.last(inside) + self.shortcut(images))


class ResNet(nn.Module):
    """Images (n, 3, h, w) to scores (n, classes).

    blocks: number of blocks in each of the four stages. bottleneck: whether blocks are `Bottleneck`
    instead of `Basic`. stride_first: True for version 1, where the first 1x1 convolution of a stage
    has the stride; in version 1.5 it is the 3x3 convolution, which takes 6 % more FLOPs.
    """

    def __init__(
        self,
        blocks: Sequence[int],
        bottleneck: bool = True,
        stride_first: bool = False,
        classes: int = 1000,
    ) -> None:
        super().__init__()
        kind = Bottleneck if bottleneck else Basic
        self.stem = convolved(3, 64, 7, 2)
        stages: list[nn.Module] = []
        given = 64
        for stage, count in enumerate(blocks):
            width = 64 * 2**stage
            for block in range(count):
                stride = 2 if stage and not block else 1
                stages.append(kind(given, width, stride, stride_first))
                given = width * kind.expansion
        self.stages = nn.Sequential(*stages)
        self.scores = nn.Linear(given, classes)

    def forward(self, images: Tensor) -> Tensor:
        inside = functional.max_pool2d(functional.relu(self.stem(images)), 3, 2, 1)
        inside = self.stages(inside)
        return self.scores(inside.mean((2, 3)))


def _shortcut(given: int, made: int, stride: int) -> nn.Module:
    if given == made and stride == 1:
        return nn.Identity()
    return convolved(given, made, 1, stride)
