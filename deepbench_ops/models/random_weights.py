"""Random weights, the same in every release of every framework.

A framework's own initialisation changes with its release, and takes seconds where there are
hundreds of millions of weights. These come from `inputs` like all other operands.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from deepbench_ops import random_operands

FIRST_STREAM = 300
"""Of the random numbers of weights, above those of inputs and targets. Drawn from the same numbers,
an item of the inputs is a multiple of a row of the first layer, whose output is then many times
what other items' are."""

OFFSET = 0.05
"""Biases are uniform within so much of zero."""


@dataclass(frozen=True)
class ParameterShape:
    """A parameter that wants values. scale: of a normalisation's weights what they all are."""

    name: str
    shape: tuple[int, ...]
    scale: float | None = None


def drawn(parameters: Iterable[ParameterShape], seed: int = 0) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the name and the first values, float32, of every parameter; their order counts.

    Matrices, tables and filters are uniform with a variance of 1/(numbers of one row), filters of
    images twice that, so that what passes through the layers keeps its size.
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
