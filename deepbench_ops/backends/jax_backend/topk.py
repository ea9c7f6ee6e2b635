"""Top-k in jax: jax.lax.top_k."""

from functools import partial
from typing import Any

import numpy as np
from jax import lax

from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.families.topk import checked_values
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.jax_backend.device import JaxDevice
from deepbench_ops.problems.topk import TopK


def function(
    backend: JaxDevice, problem: TopK, drawn: Operands, precision: str, operation: str
) -> Function:
    """Return top-k, the only operation."""
    x = drawn["x"]

    def read(output: Any) -> np.ndarray:
        values, columns = (np.asarray(each) for each in output)
        return checked_values(x, values.astype(x.dtype), columns)

    return Function(
        compile=backend.compiled(partial(lax.top_k, k=problem.k), (backend.array(x, precision),)),
        read=read,
        notes={"route": "jax.jit of lax.top_k"},
    )
