"""LayerNorm in numpy, whole arrays at a time."""

from typing import Any

import numpy as np

from deepbench_ops.backends.families import layer_norm
from deepbench_ops.backends.families.layer_norm import EPSILON
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.numpy_backend import plain
from deepbench_ops.problems.layer_norm import LayerNorm


def build(backend: Any, problem: LayerNorm, precision: str, operation: str, seed: int) -> Kernel:
    """Prepare the forward or backward pass in float32."""
    plain.refuse_unsuitable(precision)
    epsilon = np.float32(EPSILON)

    def normal_and_scale(x: np.ndarray) -> Any:
        off = x - np.mean(x, axis=-1, keepdims=True)
        scale = 1 / np.sqrt(np.mean(off * off, axis=-1, keepdims=True) + epsilon)
        return off * scale, scale

    def forward(x: np.ndarray, weight: np.ndarray, bias: np.ndarray) -> Any:
        return normal_and_scale(x)[0] * weight + bias

    def backward(x: np.ndarray, weight: np.ndarray, bias: np.ndarray, gradient: np.ndarray) -> Any:
        normal, scale = normal_and_scale(x)
        g = gradient * weight
        along = np.mean(g * normal, axis=-1, keepdims=True)
        dx = (g - np.mean(g, axis=-1, keepdims=True) - normal * along) * scale
        return dx, np.sum(gradient * normal, axis=0), np.sum(gradient, axis=0)

    passes: plain.Passes = {"forward": forward, "backward": backward}
    drawn = layer_norm.inputs(problem, precision, seed)
    route = "numpy expressions of whole arrays"
    return plain.kernel(backend, problem, precision, operation, drawn, passes, route)
