"""Layers that several networks share."""

from collections.abc import Sequence
from itertools import pairwise

from torch import nn


def convolved(
    given: int, made: int, size: int, stride: int = 1, groups: int = 1, scale: float = 1.0
) -> nn.Sequential:
    """Return a convolution and a normalisation: (n, given, h, w) to (n, made, h / stride, ...).

    size: odd size of the square filters, with a padding that keeps h and w. scale: initial weights
    of the normalisation.
    """
    normalised = nn.BatchNorm2d(made)
    normalised.initial_scale = scale  # type: ignore[assignment]
    padding = (size - 1) // 2
    return nn.Sequential(
        nn.Conv2d(given, made, size, stride, padding, groups=groups, bias=False), normalised
    )


def rectified(given: int, made: int, size: int, stride: int = 1, groups: int = 1) -> nn.Sequential:
    """Return `convolved` followed by a ReLU, with the same shapes."""
    return nn.Sequential(*convolved(given, made, size, stride, groups), nn.ReLU())


def perceptron(widths: Sequence[int], last: nn.Module | None = None) -> nn.Sequential:
    """Return fully connected layers, (n, widths[0]) to (n, widths[-1]), with ReLU between them.

    last: function after the last layer, None for none.
    """
    layers: list[nn.Module] = []
    for given, made in pairwise(widths):
        layers += [nn.Linear(given, made), nn.ReLU()]
    layers[-1:] = [last] if last is not None else []
    return nn.Sequential(*layers)
