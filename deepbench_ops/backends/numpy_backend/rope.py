"""Rotary position embedding in numpy, whole arrays at a time."""

from typing import Any

import numpy as np

from deepbench_ops.backends.families import rope
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.numpy_backend import plain
from deepbench_ops.problems.rope import Rope


def build(backend: Any, problem: Rope, precision: str, operation: str, seed: int) -> Kernel:
    """Prepare the forward or backward pass in float32."""
    plain.refuse_unsuitable(precision)

    def turned(x: np.ndarray, cosines: np.ndarray, sines: np.ndarray) -> Any:
        first, second = np.split(x, 2, axis=-1)
        return x * cosines + np.concatenate((-second, first), axis=-1) * sines

    def forward(
        queries: np.ndarray, keys: np.ndarray, cosines: np.ndarray, sines: np.ndarray
    ) -> Any:
        return turned(queries, cosines, sines), turned(keys, cosines, sines)

    def backward(
        queries: np.ndarray,
        keys: np.ndarray,
        cosines: np.ndarray,
        sines: np.ndarray,
        gradient: np.ndarray,
        gradient_of_keys: np.ndarray,
    ) -> Any:
        return turned(gradient, cosines, -sines), turned(gradient_of_keys, cosines, -sines)

    passes: plain.Passes = {"forward": forward, "backward": backward}
    drawn = rope.inputs(problem, precision, seed)
    route = "x * cos + np.concatenate((-x2, x1)) * sin, of queries and keys"
    return plain.kernel(backend, problem, precision, operation, drawn, passes, route)
