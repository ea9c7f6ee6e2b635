"""RMSNorm in numpy, whole arrays at a time."""

from typing import Any

import numpy as np

from deepbench_ops.backends.families import rms_norm
from deepbench_ops.backends.families.rms_norm import EPSILON
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.numpy_backend import plain
from deepbench_ops.problems.rms_norm import RmsNorm


def build(backend: Any, problem: RmsNorm, precision: str, operation: str, seed: int) -> Kernel:
    """Prepare the forward or backward pass in float32."""
    plain.refuse_unsuitable(precision)
    epsilon = np.float32(EPSILON)

    def factors(x: np.ndarray) -> Any:
        return 1 / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + epsilon)

    def forward(x: np.ndarray, weight: np.ndarray) -> Any:
        return x * factors(x) * weight

    def added(x: np.ndarray, weight: np.ndarray, residual: np.ndarray) -> Any:
        total = x + residual
        return forward(total, weight), total

    def backward(x: np.ndarray, weight: np.ndarray, gradient: np.ndarray) -> Any:
        scale = factors(x)
        normal, g = x * scale, gradient * weight
        along = np.mean(g * normal, axis=-1, keepdims=True)
        return (g - normal * along) * scale, np.sum(gradient * normal, axis=0)

    passes = {"forward": added if problem.added else forward, "backward": backward}
    drawn = rms_norm.inputs(problem, precision, seed)
    route = "numpy expressions of whole arrays"
    return plain.kernel(backend, problem, precision, operation, drawn, passes, route)
