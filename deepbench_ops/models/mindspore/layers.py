"""Layers that several networks share, and the parameters of a network in torch's order."""

from collections.abc import Iterator

from mindspore import Parameter, nn


def rectified(given: int, made: int, size: int, stride: int = 1) -> nn.SequentialCell:
    """Return a convolution, a normalisation and a ReLU; only the stride changes the image's size.

    The momentum of a normalisation is 1 minus that of torch: MindSpore gives the part of the old
    value, torch that of the new one.
    """
    padding = (size - 1) // 2
    convolution = nn.Conv2d(
        given, made, size, stride, pad_mode="pad", padding=padding, has_bias=False
    )
    return nn.SequentialCell(convolution, nn.BatchNorm2d(made, eps=1e-5, momentum=0.9), nn.ReLU())


def pooled(stride: int) -> nn.MaxPool2d:
    """Return a pooling layer: the maximum of each 3x3 window, with padding on every side."""
    return nn.MaxPool2d(3, stride, pad_mode="pad", padding=1)


def parameters(network: nn.Cell) -> Iterator[tuple[Parameter, bool]]:
    """Yield the parameters of a network in torch's order, and whether each is the weights of a
    normalisation."""
    for _, cell in network.cells_and_names():
        if isinstance(cell, nn.LSTM):
            parts = cell.w_ih_list, cell.w_hh_list, cell.b_ih_list, cell.b_hh_list
            for of_direction in zip(*parts, strict=True):
                yield from ((parameter, False) for parameter in of_direction)
            continue
        for name, parameter in cell._params.items():
            if not name.startswith("moving_"):
                yield parameter, name == "gamma"
