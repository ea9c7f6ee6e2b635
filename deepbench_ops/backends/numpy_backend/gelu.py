"""GELU in numpy with scipy's erf, whole arrays at a time."""

from math import pi, sqrt
from typing import Any

import numpy as np

from deepbench_ops.backends.families import gelu
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.numpy_backend import plain
from deepbench_ops.problems.gelu import Gelu

ROOT, HALF = np.float32(sqrt(0.5)), np.float32(0.5)
DENSITY = np.float32(1 / sqrt(2 * pi))


def build(backend: Any, problem: Gelu, precision: str, operation: str, seed: int) -> Kernel:
    """Prepare the forward or backward pass in float32."""
    plain.refuse_unsuitable(precision)
    from scipy.special import erf

    def forward(x: np.ndarray) -> Any:
        return HALF * x * (1 + erf(x * ROOT))

    def backward(x: np.ndarray, gradient: np.ndarray) -> Any:
        slope = HALF * (1 + erf(x * ROOT)) + x * DENSITY * np.exp(-HALF * x * x)
        return gradient * slope

    passes: plain.Passes = {"forward": forward, "backward": backward}
    drawn = gelu.inputs(problem, precision, seed)
    route = "numpy expressions of whole arrays, scipy.special.erf"
    return plain.kernel(backend, problem, precision, operation, drawn, passes, route)
