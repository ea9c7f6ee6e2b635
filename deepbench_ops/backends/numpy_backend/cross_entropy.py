"""Cross-entropy in numpy, whole arrays at a time.

The backward pass starts from the logarithms of the probabilities, as that of torch does.
"""

from typing import Any

import numpy as np

from deepbench_ops.backends.families import cross_entropy
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.numpy_backend import plain
from deepbench_ops.problems.cross_entropy import CrossEntropy


def log_probabilities(logits: np.ndarray) -> Any:
    """Return the logarithms of the probabilities of each row."""
    off = logits - np.max(logits, axis=1, keepdims=True)
    return off - np.log(np.sum(np.exp(off), axis=1, keepdims=True))


def build(backend: Any, problem: CrossEntropy, precision: str, operation: str, seed: int) -> Kernel:
    """Prepare the forward or backward pass in float32."""
    plain.refuse_unsuitable(precision)
    rows = np.arange(problem.tokens)

    def forward(logits: np.ndarray, targets: np.ndarray) -> Any:
        off = logits - np.max(logits, axis=1, keepdims=True)
        return np.mean(np.log(np.sum(np.exp(off), axis=1)) - off[rows, targets])

    drawn = cross_entropy.inputs(problem, precision, seed)
    logs: Any = log_probabilities(drawn["logits"]) if operation == "backward" else None

    def backward(logits: np.ndarray, targets: np.ndarray, gradient: np.ndarray) -> Any:
        factor = gradient / np.float32(problem.tokens)
        of_logits = np.exp(logs)
        of_logits *= factor
        of_logits[rows, targets] -= factor
        return of_logits

    passes: plain.Passes = {"forward": forward, "backward": backward}
    route = "numpy expressions of whole arrays"
    return plain.kernel(backend, problem, precision, operation, drawn, passes, route)
