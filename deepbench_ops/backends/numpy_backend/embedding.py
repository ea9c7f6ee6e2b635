"""Embedding in numpy: np.take, and np.add.at for the gradient."""

from typing import Any

import numpy as np

from deepbench_ops.backends.families import embedding
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.numpy_backend import plain
from deepbench_ops.problems.embedding import Embedding


def build(backend: Any, problem: Embedding, precision: str, operation: str, seed: int) -> Kernel:
    """Prepare the forward or backward pass in float32."""
    plain.refuse_unsuitable(precision)

    def forward(table: np.ndarray, tokens: np.ndarray) -> Any:
        return np.take(table, tokens, axis=0)

    def backward(table: np.ndarray, tokens: np.ndarray, gradient: np.ndarray) -> Any:
        found = np.zeros_like(table)
        np.add.at(found, tokens, gradient)
        return found

    passes: plain.Passes = {"forward": forward, "backward": backward}
    drawn = embedding.inputs(problem, precision, seed)
    route = "np.add.at" if operation == "backward" else "np.take"
    return plain.kernel(backend, problem, precision, operation, drawn, passes, route)
