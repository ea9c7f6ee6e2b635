"""Cross-entropy in numpy, whole arrays at a time."""

from typing import Any

import numpy as np

from deepbench_ops.backends.families import cross_entropy
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.numpy_backend import plain
from deepbench_ops.problems.cross_entropy import CrossEntropy


def build(backend: Any, problem: CrossEntropy, precision: str, operation: str, seed: int) -> Kernel:
    """Prepare the forward or backward pass in float32."""
    plain.refuse_unsuitable(precision)
    rows = np.arange(problem.tokens)

    def forward(logits: np.ndarray, targets: np.ndarray) -> Any:
        off = logits - np.max(logits, axis=1, keepdims=True)
        return np.mean(np.log(np.sum(np.exp(off), axis=1)) - off[rows, targets])

    def backward(logits: np.ndarray, targets: np.ndarray, gradient: np.ndarray) -> Any:
        shares = np.exp(logits - np.max(logits, axis=1, keepdims=True))
        shares /= np.sum(shares, axis=1, keepdims=True)
        shares[rows, targets] -= 1
        shares *= gradient / np.float32(problem.tokens)
        return shares

    passes: plain.Passes = {"forward": forward, "backward": backward}
    drawn = cross_entropy.inputs(problem, precision, seed)
    route = "numpy expressions of whole arrays"
    return plain.kernel(backend, problem, precision, operation, drawn, passes, route)
