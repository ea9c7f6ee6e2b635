"""Random weights, the same in every release of every framework.

A framework's own initialisation changes with its release, and takes seconds where there are
hundreds of millions of weights. These come from `inputs` like all other operands.
"""

import math
from collections.abc import Callable, Iterator

import numpy as np
import torch
from torch import nn

from deepbench_ops import inputs
from deepbench_ops.errors import Unsupported

OFFSET = 0.05
"""Biases are uniform within so much of zero."""

NORMALISATIONS = (nn.BatchNorm2d, nn.LayerNorm)


def filled(build: Callable[[], nn.Module], seed: int = 0) -> nn.Module:
    """Return the module that `build` makes, on the CPU in float32, with weights from `seed`.

    Raises Unsupported where torch cannot make a module without initialising it (before 2.0).
    """
    if not hasattr(torch.device, "__enter__"):
        raise Unsupported(
            f"torch {torch.__version__} cannot build a network without initialising it: whole"
            " models are measured from torch 2.0 on"
        )
    with torch.device("meta"):
        module = build()
    module.to_empty(device="cpu")
    with torch.no_grad():
        for name, values in drawn(module, seed):
            module.get_parameter(name).copy_(torch.from_numpy(values))
        for layer in module.modules():
            if isinstance(layer, nn.BatchNorm2d):
                layer.reset_running_stats()
    return module


def drawn(module: nn.Module, seed: int = 0) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the name and the first values, float32, of every parameter of a module.

    Matrices, tables and filters are uniform with a variance of 1/(numbers of one row), filters of
    images twice that, so that what passes through the layers keeps its size. The weights of a
    normalisation are its `initial_scale`, 1 where it has none.
    """
    stream = 0
    for place, layer in module.named_modules():
        for name, parameter in layer.named_parameters(place, recurse=False):
            shape = tuple(parameter.shape)
            if isinstance(layer, NORMALISATIONS) and name.endswith("weight"):
                scale = getattr(layer, "initial_scale", 1.0)
                yield name, np.full(shape, scale, np.float32)
                continue
            yield name, inputs.floats(shape, "float32", _half_width(shape), seed, stream)
            stream += 1


def _half_width(shape: tuple[int, ...]) -> float:
    if len(shape) == 1:
        return OFFSET
    gain = 2 if len(shape) == 4 else 1
    return math.sqrt(3 * gain / math.prod(shape[1:]))
