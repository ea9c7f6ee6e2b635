"""Softmax in numpy, whole arrays at a time."""

from typing import Any

import numpy as np

from deepbench_ops.backends.families import softmax
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.numpy_backend import plain
from deepbench_ops.problems.softmax import Softmax


def build(backend: Any, problem: Softmax, precision: str, operation: str, seed: int) -> Kernel:
    """Prepare the forward or backward pass in float32."""
    plain.refuse_unsuitable(precision)

    def forward(x: np.ndarray) -> Any:
        powers = np.exp(x - np.max(x, axis=-1, keepdims=True))
        return powers / np.sum(powers, axis=-1, keepdims=True)

    drawn = softmax.inputs(problem, precision, seed)
    y = forward(drawn["x"]) if operation == "backward" else None

    def backward(x: np.ndarray, gradient: np.ndarray) -> Any:
        return y * (gradient - np.sum(y * gradient, axis=-1, keepdims=True))

    passes: plain.Passes = {"forward": forward, "backward": backward}
    route = "numpy expressions of whole arrays"
    return plain.kernel(backend, problem, precision, operation, drawn, passes, route)
