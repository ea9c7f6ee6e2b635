"""Random weights, the same in every release of every framework.

A framework's own initialisation changes with its release, and takes seconds for hundreds of
millions of weights. These weights come from `random_operands`, as all operands do.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from deepbench_ops import random_operands

FIRST_STREAM = 300
"""First stream of random numbers for weights, above those of inputs and targets. From the same
stream an input could be a multiple of a row of the first layer, with an output many times as large
as that of other items."""

OFFSET = 0.05
"""Biases are uniform in [-OFFSET, OFFSET)."""


@dataclass(frozen=True)
class ParameterShape:
    """Name and shape of a parameter.

    scale: value of all weights of a normalisation; None for parameters with random values.
    """

    name: str
    shape: tuple[int, ...]
    scale: float | None = None


def drawn(parameters: Iterable[ParameterShape], seed: int = 0) -> Iterator[tuple[str, np.ndarray]]:
    """Yield name and initial float32 values of every parameter; values depend on the order.

    Matrices, tables and filters are uniform with the variance 1/(length of a row), and filters of
    images with twice that, so that values keep their size from layer to layer.
    """
    stream = FIRST_STREAM
    for each in parameters:
        if each.scale is not None:
            yield each.name, np.full(each.shape, each.scale, np.float32)
            continue
        yield (
            each.name,
            random_operands.floats(each.shape, "float32", _half_width(each.shape), seed, stream),
        )
        stream += 1


def _half_width(shape: tuple[int, ...]) -> float:
    if len(shape) == 1:
        return OFFSET
    gain = 2 if len(shape) == 4 else 1
    return math.sqrt(3 * gain / math.prod(shape[1:]))
