"""Cross-entropy in MindSpore: ops.cross_entropy."""

from typing import Any

from mindspore import ops

from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.mindspore_backend import forward
from deepbench_ops.backends.mindspore_backend.device import DTYPES, MindSporeDevice
from deepbench_ops.problems.cross_entropy import CrossEntropy


def function(
    backend: MindSporeDevice, problem: CrossEntropy, drawn: Operands, precision: str, operation: str
) -> Function:
    """Return the forward pass; raise Unsupported for the backward pass."""

    def compute(logits: Any, targets: Any) -> Any:
        return ops.cross_entropy(ops.cast(logits, DTYPES["float32"]), targets)

    route = "ops.cross_entropy in float32"
    return forward.function(backend, problem, drawn, precision, operation, compute, route)
