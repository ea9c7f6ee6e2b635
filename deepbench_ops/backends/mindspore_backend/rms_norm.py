"""RMSNorm in MindSpore, as its users write it: in float32, then rounded to the type of x."""

from typing import Any

from mindspore import ops

from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.families.rms_norm import EPSILON
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.mindspore_backend import forward
from deepbench_ops.backends.mindspore_backend.device import DTYPES, MindSporeDevice
from deepbench_ops.problems.rms_norm import RmsNorm


def function(
    backend: MindSporeDevice, problem: RmsNorm, drawn: Operands, precision: str, operation: str
) -> Function:
    """Return the forward pass; raise Unsupported for the backward pass."""

    def normalise(x: Any, weight: Any) -> Any:
        w = ops.cast(weight, DTYPES["float32"])

        def wide_form(wide: Any) -> Any:
            return wide * ops.rsqrt(ops.mean(wide * wide, -1, keep_dims=True) + EPSILON) * w

        return forward.in_float32(x, wide_form)

    def added(x: Any, weight: Any, residual: Any) -> Any:
        total = x + residual
        return normalise(total, weight), total

    compute = added if problem.added else normalise

    route = "x * ops.rsqrt(ops.mean(x * x) + eps) * w in float32"
    return forward.function(backend, problem, drawn, precision, operation, compute, route)
