"""The problem that a call of a network's layer computes, from the shapes of its inputs."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch import Tensor, nn

from deepbench_ops.problems.conv import Conv
from deepbench_ops.problems.cross_entropy import CrossEntropy
from deepbench_ops.problems.embedding import Embedding
from deepbench_ops.problems.gelu import Gelu
from deepbench_ops.problems.grouped_conv import GroupedConv
from deepbench_ops.problems.layer_norm import LayerNorm
from deepbench_ops.problems.linear_layer import LinearLayer
from deepbench_ops.problems.problem import Problem
from deepbench_ops.problems.rms_norm import RmsNorm
from deepbench_ops.problems.softmax import Softmax


def problem_of(layer: nn.Module, given: Sequence[Any]) -> Problem | None:
    """Return the problem that a call of a layer computes; None where no family has it.

    given: inputs of the call. Layers of this project have a method `problem`; PROBLEMS has torch's
    layers.
    """
    own: Callable[..., Problem] | None = getattr(layer, "problem", None)
    if own is not None:
        return own(*given)
    known = PROBLEMS.get(type(layer))
    return None if known is None else known(layer, *given)


def _linear(layer: Any, values: Tensor) -> Problem:
    n, k = layer.weight.shape
    return LinearLayer(_rows(values), n, k, bias=layer.bias is not None)


def _rms_norm(layer: Any, values: Tensor) -> Problem | None:
    if len(layer.normalized_shape) > 1:
        return None
    return RmsNorm("rms_norm", _rows(values), values.shape[-1])


def _layer_norm(layer: Any, values: Tensor) -> Problem | None:
    if len(layer.normalized_shape) > 1 or layer.bias is None:
        return None
    return LayerNorm(_rows(values), values.shape[-1])


def _gelu(layer: Any, values: Tensor) -> Problem | None:
    return Gelu(_rows(values), values.shape[-1]) if layer.approximate == "none" else None


def _softmax(layer: Any, values: Tensor) -> Problem | None:
    last = layer.dim in (-1, values.dim() - 1)
    return Softmax(_rows(values), values.shape[-1]) if last else None


def _embedding(layer: Any, indices: Tensor) -> Problem | None:
    return None if layer.sparse else Embedding(indices.numel(), *layer.weight.shape)


def _cross_entropy(layer: Any, scores: Tensor, targets: Tensor) -> Problem:
    """Return the problem of scores whose second axis is the classes."""
    return CrossEntropy(targets.numel(), scores.shape[1])


def _convolution(layer: Any, images: Tensor) -> Problem | None:
    """Return the problem of a convolution: of `conv`, or of `grouped_conv` for convolutions in
    groups and those whose stride is the size of the filter."""
    n, c, h, w = images.shape
    k, (r, s) = layer.out_channels, layer.kernel_size
    (pad_h, pad_w), (stride_h, stride_w) = layer.padding, layer.stride
    if layer.dilation != (1, 1) or layer.padding_mode != "zeros":
        return None
    if layer.groups == 1 and (stride_h, stride_w) != (r, s):
        return Conv(w, h, c, n, k, r, s, pad_w, pad_h, stride_w, stride_h)
    if pad_h != pad_w or stride_h != stride_w:
        return None
    return GroupedConv(layer.groups, w, h, c, n, k, r, s, pad_h, stride_h)


PROBLEMS: Mapping[type[nn.Module], Callable[..., Problem | None]] = {
    nn.Conv2d: _convolution,
    nn.CrossEntropyLoss: _cross_entropy,
    nn.Embedding: _embedding,
    nn.GELU: _gelu,
    nn.LayerNorm: _layer_norm,
    nn.Linear: _linear,
    nn.Softmax: _softmax,
    **({nn.RMSNorm: _rms_norm} if hasattr(nn, "RMSNorm") else {}),
}
"""Functions of a layer and its inputs that return the problem, by class of torch's layers. torch
has RMSNorm from 2.4 on."""


def _rows(values: Tensor) -> int:
    return values.shape[:-1].numel()
