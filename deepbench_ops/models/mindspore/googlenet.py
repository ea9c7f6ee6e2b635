"""GoogLeNet in MindSpore; see `models.googlenet`."""

from collections.abc import Sequence

from mindspore import Tensor, nn, ops

from deepbench_ops.models.mindspore.layers import pooled, rectified


class Inception(nn.Cell):
    """Four parallel branches whose channels are concatenated."""

    def __init__(self, given: int, widths: Sequence[int]) -> None:
        super().__init__()
        one, three_reduced, three, five_reduced, five, last = widths
        self.one = rectified(given, one, 1)
        self.three = nn.SequentialCell(
            rectified(given, three_reduced, 1), rectified(three_reduced, three, 3)
        )
        self.five = nn.SequentialCell(
            rectified(given, five_reduced, 1), rectified(five_reduced, five, 5)
        )
        self.pooled = rectified(given, last, 1)
        self.around = pooled(1)
        self.made = one + three + five + last

    def construct(self, images: Tensor) -> Tensor:
        around = self.pooled(self.around(images))
        return ops.cat((self.one(images), self.three(images), self.five(images), around), 1)


class GoogLeNet(nn.Cell):
    """Images (n, 3, h, w) to scores (n, classes)."""

    def __init__(
        self,
        stages: Sequence[Sequence[Sequence[int]]],
        classes: int = 10,
        dropout: float = 0.4,
    ) -> None:
        super().__init__()
        self.stem = rectified(3, 64, 7, 2)
        self.halved = pooled(2)
        self.second = nn.SequentialCell(rectified(64, 64, 1), rectified(64, 192, 3))
        parts: list[nn.Cell] = []
        given = 192
        for stage in stages:
            parts.append(pooled(2))
            for widths in stage:
                module = Inception(given, widths)
                parts.append(module)
                given = module.made
        self.parts = nn.SequentialCell(*parts)
        self.dropped = nn.Dropout(p=dropout)
        self.scores = nn.Dense(given, classes)

    def construct(self, images: Tensor) -> Tensor:
        inside = self.parts(self.second(self.halved(self.stem(images))))
        return self.scores(self.dropped(inside.mean((2, 3))))
