"""GELU in MindSpore: ops.gelu, its exact form, in float32, then rounded to the type of x."""

from typing import Any

from mindspore import ops

from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.mindspore_backend import forward
from deepbench_ops.backends.mindspore_backend.device import MindSporeDevice
from deepbench_ops.problems.gelu import Gelu


def function(
    backend: MindSporeDevice, problem: Gelu, drawn: Operands, precision: str, operation: str
) -> Function:
    """Return the forward pass; raise Unsupported for the backward pass."""

    def compute(x: Any) -> Any:
        return forward.in_float32(x, lambda wide: ops.gelu(wide, approximate="none"))

    route = "ops.gelu in float32"
    return forward.function(backend, problem, drawn, precision, operation, compute, route)
