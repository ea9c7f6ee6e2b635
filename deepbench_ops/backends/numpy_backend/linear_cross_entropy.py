"""Linear layer and cross-entropy in numpy, whole arrays at a time.

The backward pass starts from the logarithms of the probabilities, as that of torch does.
"""

from typing import Any

import numpy as np

from deepbench_ops.backends.families import linear_cross_entropy
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.numpy_backend import plain
from deepbench_ops.backends.numpy_backend.cross_entropy import log_probabilities
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

    drawn = linear_cross_entropy.inputs(problem, precision, seed)
    logs: Any = None
    if operation == "backward":
        logs = log_probabilities(np.matmul(drawn["x"], drawn["weight"].T))

    def backward(x: np.ndarray, weight: np.ndarray, targets: np.ndarray, gradient: Any) -> Any:
        factor = gradient / np.float32(problem.tokens)
        of_logits = np.exp(logs)
        of_logits *= factor
        of_logits[rows, targets] -= factor
        return np.matmul(of_logits, weight), np.matmul(of_logits.T, x)

    passes: plain.Passes = {"forward": forward, "backward": backward}
    route = "np.matmul, then numpy expressions of whole arrays"
    return plain.kernel(
        backend, problem, precision, operation, drawn, passes, route, backend.implementation
    )
