"""Linear layer and cross-entropy in numpy, whole arrays at a time."""

from typing import Any

import numpy as np

from deepbench_ops.backends.families import linear_cross_entropy
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.numpy_backend import plain
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.linear_cross_entropy import LinearCrossEntropy
from deepbench_ops.problems.selections import FUSED


def build(
    backend: Any, problem: LinearCrossEntropy, precision: str, operation: str, seed: int
) -> Kernel:
    """Prepare the forward or backward pass in float32; raise Unsupported for fused operations."""
    if operation.startswith(FUSED):
        raise Unsupported("numpy has no single operation for linear layer and cross-entropy")
    plain.refuse_unsuitable(precision)
    rows = np.arange(problem.tokens)

    def forward(x: np.ndarray, weight: np.ndarray, targets: np.ndarray) -> Any:
        logits = np.matmul(x, weight.T)
        logits -= np.max(logits, axis=1, keepdims=True)
        return np.mean(np.log(np.sum(np.exp(logits), axis=1)) - logits[rows, targets])

    def backward(x: np.ndarray, weight: np.ndarray, targets: np.ndarray, gradient: Any) -> Any:
        shares = np.matmul(x, weight.T)
        shares = np.exp(shares - np.max(shares, axis=1, keepdims=True))
        shares /= np.sum(shares, axis=1, keepdims=True)
        shares[rows, targets] -= 1
        shares *= gradient / np.float32(problem.tokens)
        return np.matmul(shares, weight), np.matmul(shares.T, x)

    passes: plain.Passes = {"forward": forward, "backward": backward}
    drawn = linear_cross_entropy.inputs(problem, precision, seed)
    route = "np.matmul, then numpy expressions of whole arrays"
    return plain.kernel(backend, problem, precision, operation, drawn, passes, route)
