"""A gated MLP in numpy: three products, and the activation of whole arrays."""

from math import pi, sqrt
from typing import Any

import numpy as np

from deepbench_ops.backends.families import gated_mlp
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.numpy_backend import plain
from deepbench_ops.problems.gated_mlp import GatedMlp

ROOT, CUBIC = np.float32(sqrt(2 / pi)), np.float32(0.044715)
HALF = np.float32(0.5)


def build(backend: Any, problem: GatedMlp, precision: str, operation: str, seed: int) -> Kernel:
    """Prepare the forward pass in float32."""
    plain.refuse_unsuitable(precision)

    def activation(x: np.ndarray) -> Any:
        if problem.activation == "swiglu":
            return x / (1 + np.exp(-x))
        return HALF * x * (1 + np.tanh(ROOT * (x + CUBIC * x * x * x)))

    def forward(x: np.ndarray, gate: np.ndarray, up: np.ndarray, down: np.ndarray) -> Any:
        return (activation(x @ gate.T) * (x @ up.T)) @ down.T

    drawn = gated_mlp.inputs(problem, precision, seed)
    route = "np.matmul and expressions of whole arrays"
    passes: plain.Passes = {"forward": forward}
    return plain.kernel(
        backend, problem, precision, operation, drawn, passes, route, backend.implementation
    )
