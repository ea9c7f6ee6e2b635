"""Grouped products in jax: lax.ragged_dot_general, with groups of rows or of summed terms."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from deepbench_ops.backends.families.grouped_gemm import GroupedInputs
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.jax_backend.device import JaxDevice
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.grouped_gemm import GroupedGemm

CONTRACTED = {
    "forward": ((1,), (2,)),
    "backward_input": ((1,), (1,)),
    "backward_weight": ((0,), (0,)),
}
"""Dimensions that are summed over, of the first and of the second operand, by operation."""


def function(
    backend: JaxDevice, problem: GroupedGemm, drawn: GroupedInputs, precision: str, operation: str
) -> Function:
    """Return one operation; raise Unsupported for releases without ragged_dot_general."""
    if not hasattr(lax, "ragged_dot_general"):
        raise Unsupported("this release of jax has no lax.ragged_dot_general")
    weights = operation == "backward_weight"
    numbers = lax.RaggedDotDimensionNumbers(
        dot_dimension_numbers=(CONTRACTED[operation], ((), ())),
        lhs_ragged_dimensions=[0],
        rhs_group_dimensions=[] if weights else [0],
    )
    left = drawn.x if operation == "forward" else drawn.dy
    right = drawn.x if weights else drawn.w
    loads = backend.array(drawn.ends - drawn.starts, "int32")
    exactness = backend.precision_of_products(precision)

    def product(left: Any, right: Any, loads: Any) -> Any:
        return lax.ragged_dot_general(left, right, loads, numbers, precision=exactness)

    return Function(
        compile=backend.compiled(product, (*backend.arrays(precision, left, right), loads)),
        read=lambda output: np.asarray(output.astype(jnp.float32)),
        notes={
            "route": "jax.jit of lax.ragged_dot_general; without a ragged kernel, as on the CPU,"
            " XLA multiplies all rows with every expert and adds what is masked"
        },
    )
