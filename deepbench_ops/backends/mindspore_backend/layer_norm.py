"""LayerNorm in MindSpore: the operator LayerNorm in float32, then rounded to the type of x."""

from typing import Any

from mindspore import ops

from deepbench_ops.backends.families.layer_norm import EPSILON
from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.mindspore_backend import forward
from deepbench_ops.backends.mindspore_backend.device import DTYPES, MindSporeDevice
from deepbench_ops.problems.layer_norm import LayerNorm


def function(
    backend: MindSporeDevice, problem: LayerNorm, drawn: Operands, precision: str, operation: str
) -> Function:
    """Return the forward pass; raise Unsupported for the backward pass."""

    normalise = ops.LayerNorm(begin_norm_axis=-1, begin_params_axis=-1, epsilon=EPSILON)

    def compute(x: Any, weight: Any, bias: Any) -> Any:
        w, b = (ops.cast(each, DTYPES["float32"]) for each in (weight, bias))
        return forward.in_float32(x, lambda wide: normalise(wide, w, b)[0])

    route = "ops.LayerNorm in float32"
    return forward.function(backend, problem, drawn, precision, operation, compute, route)
