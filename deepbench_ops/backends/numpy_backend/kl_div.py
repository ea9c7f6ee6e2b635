"""KL divergence in numpy, whole arrays at a time."""

from typing import Any

import numpy as np

from deepbench_ops.backends.families import kl_div
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.numpy_backend import plain
from deepbench_ops.problems.kl_div import KlDiv


def build(backend: Any, problem: KlDiv, precision: str, operation: str, seed: int) -> Kernel:
    """Prepare the forward or backward pass in float32."""
    plain.refuse_unsuitable(precision)
    tokens = np.float32(problem.tokens)

    def forward(predicted: np.ndarray, wanted: np.ndarray) -> Any:
        return np.sum(wanted * (np.log(wanted) - predicted)) / tokens

    def backward(predicted: np.ndarray, wanted: np.ndarray, gradient: np.ndarray) -> Any:
        return wanted * (-gradient / tokens)

    passes: plain.Passes = {"forward": forward, "backward": backward}
    drawn = kl_div.inputs(problem, precision, seed)
    route = "numpy expressions of whole arrays"
    return plain.kernel(backend, problem, precision, operation, drawn, passes, route)
