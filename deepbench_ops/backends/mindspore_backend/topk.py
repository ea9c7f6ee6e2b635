"""Top-k in MindSpore: ops.topk."""

from typing import Any

import numpy as np
from mindspore import ops

from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.families.topk import checked_values
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.mindspore_backend.device import MindSporeDevice
from deepbench_ops.problems.topk import TopK


def function(
    backend: MindSporeDevice, problem: TopK, drawn: Operands, precision: str, operation: str
) -> Function:
    """Return top-k, the only operation."""
    x = drawn["x"]

    def largest(values: Any) -> Any:
        return ops.topk(values, problem.k)

    def read(output: Any) -> np.ndarray:
        values, columns = (each.asnumpy() for each in output)
        return checked_values(x, values.astype(x.dtype), columns)

    return Function(
        compile=backend.called(largest, (backend.tensor(x, precision),)),
        read=read,
        notes={"route": "PyNative: ops.topk"},
    )
