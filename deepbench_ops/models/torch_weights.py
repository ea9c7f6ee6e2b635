"""Networks in torch with the weights of `random_weights` instead of torch's initialisation."""

from collections.abc import Callable, Iterator

import torch
from torch import nn

from deepbench_ops.errors import Unsupported
from deepbench_ops.models.random_weights import ParameterShape, drawn

NORMALISATIONS = tuple(
    getattr(nn, name) for name in ("BatchNorm2d", "LayerNorm", "RMSNorm") if hasattr(nn, name)
)
"""Layers whose weights are factors close to 1; torch has RMSNorm from 2.4 on."""


def filled(build: Callable[[], nn.Module], seed: int = 0) -> nn.Module:
    """Return the module that `build` returns, on the CPU in float32, with weights from `seed`.

    Raises Unsupported for torch before 2.0, which cannot make a module without initialising it.
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
        for name, values in drawn(parameter_shapes(module), seed):
            module.get_parameter(name).copy_(torch.from_numpy(values))
        for layer in module.modules():
            if isinstance(layer, nn.BatchNorm2d):
                layer.reset_running_stats()
    return module


def parameter_shapes(module: nn.Module) -> Iterator[ParameterShape]:
    """Yield the parameters of a module in its order.

    The scale of a normalisation is its attribute `initial_scale`, 1 by default.
    """
    for place, layer in module.named_modules():
        for name, parameter in layer.named_parameters(place, recurse=False):
            scaled = isinstance(layer, NORMALISATIONS) and name.endswith("weight")
            scale = getattr(layer, "initial_scale", 1.0) if scaled else None
            yield ParameterShape(name, tuple(parameter.shape), scale)
