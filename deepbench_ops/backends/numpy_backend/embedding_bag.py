"""Embedding bags in numpy: np.take and np.sum, and np.add.at for the gradient."""

from typing import Any

import numpy as np

from deepbench_ops.backends.families import embedding_bag
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.numpy_backend import plain
from deepbench_ops.problems.embedding_bag import EmbeddingBag


def build(backend: Any, problem: EmbeddingBag, precision: str, operation: str, seed: int) -> Kernel:
    """Prepare the forward or backward pass in float32."""
    plain.refuse_unsuitable(precision)

    def forward(rows: np.ndarray, bags: np.ndarray) -> Any:
        return np.sum(np.take(rows, bags, axis=0), axis=1)

    def backward(rows: np.ndarray, bags: np.ndarray, gradient: np.ndarray) -> Any:
        found = np.zeros_like(rows)
        np.add.at(found, bags, gradient[:, None, :])
        return found

    passes: plain.Passes = {"forward": forward, "backward": backward}
    drawn = embedding_bag.inputs(problem, precision, seed)
    route = "np.add.at" if operation == "backward" else "np.take, np.sum"
    return plain.kernel(backend, problem, precision, operation, drawn, passes, route)
