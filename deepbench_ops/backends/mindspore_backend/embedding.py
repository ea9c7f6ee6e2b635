"""Embedding in MindSpore: ops.gather."""

from typing import Any

from mindspore import ops

from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.mindspore_backend import forward
from deepbench_ops.backends.mindspore_backend.device import MindSporeDevice
from deepbench_ops.problems.embedding import Embedding


def function(
    backend: MindSporeDevice, problem: Embedding, drawn: Operands, precision: str, operation: str
) -> Function:
    """Return the forward pass; raise Unsupported for the backward pass."""

    def compute(table: Any, tokens: Any) -> Any:
        return ops.gather(table, tokens, 0)

    route = "ops.gather"
    return forward.function(backend, problem, drawn, precision, operation, compute, route)
