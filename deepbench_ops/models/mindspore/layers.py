"""Layers of the networks, and their parameters in torch's order."""

from collections.abc import Iterator

from mindspore import Parameter, nn


def rectified(given: int, made: int, size: int, stride: int = 1) -> nn.SequentialCell:
    """Return a convolution that keeps the image's size but for the stride, normalised, with ReLU.

    MindSpore's momentum of a normalisation is what it keeps, torch's what it takes.
    """
    padding = (size - 1) // 2
    convolution = nn.Conv2d(
        given, made, size, stride, pad_mode="pad", padding=padding, has_bias=False
    )
    return nn.SequentialCell(convolution, nn.BatchNorm2d(made, eps=1e-5, momentum=0.9), nn.ReLU())


def pooled(stride: int) -> nn.MaxPool2d:
    """Return the largest of each 3x3, padded on every side."""
    return nn.MaxPool2d(3, stride, pad_mode="pad", padding=1)


def parameters(network: nn.Cell) -> Iterator[tuple[Parameter, bool]]:
    """Yield what torch calls parameters in the order that torch has them in, and whether each is
    the weights of a normalisation."""
    for _, cell in network.cells_and_names():
        if isinstance(cell, nn.LSTM):
            parts = cell.w_ih_list, cell.w_hh_list, cell.b_ih_list, cell.b_hh_list
            for of_direction in zip(*parts, strict=True):
                yield from ((parameter, False) for parameter in of_direction)
            continue
        for name, parameter in cell._params.items():
            if not name.startswith("moving_"):
                yield parameter, name == "gamma"
