"""Linear attention in numpy, token by token, with the states of all heads at once."""

from typing import Any

import numpy as np

from deepbench_ops.backends.families import linear_attention
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.numpy_backend import plain
from deepbench_ops.problems.linear_attention import LinearAttention


def build(
    backend: Any, problem: LinearAttention, precision: str, operation: str, seed: int
) -> Kernel:
    """Prepare the forward pass in float32."""
    plain.refuse_unsuitable(precision)
    scale = np.float32(linear_attention.scale(problem))
    group = problem.value_heads // problem.heads

    def forward(
        queries: np.ndarray,
        keys: np.ndarray,
        values: np.ndarray,
        decays: np.ndarray,
        state: np.ndarray,
        rates: np.ndarray | None = None,
    ) -> Any:
        queries, keys = (np.repeat(each, group, axis=2) for each in (queries, keys))
        kept = np.exp(decays)[..., None, None]
        outputs = np.empty_like(values)
        for token in range(values.shape[1]):
            state = state * kept[:, token]
            key, value = keys[:, token, :, None], values[:, token, :, None]
            if rates is not None:
                value = (value - key @ state) * rates[:, token, :, None, None]
            state = state + np.swapaxes(key, -1, -2) * value
            outputs[:, token] = (queries[:, token, :, None] @ state)[..., 0, :] * scale
        return outputs, state

    drawn = linear_attention.inputs(problem, precision, seed)
    route = "np.matmul and elementwise products, token by token"
    passes: plain.Passes = {"forward": forward}
    return plain.kernel(
        backend, problem, precision, operation, drawn, passes, route, backend.implementation
    )
