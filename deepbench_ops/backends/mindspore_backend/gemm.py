"""C + A·B in MindSpore: MatMul with its transposes, and an addition.

Tensors are row-major. The kernel therefore computes the transposed product of the operands in their
memory order.
"""

from typing import Any

from mindspore import ops

from deepbench_ops.backends.families import gemm
from deepbench_ops.backends.families.gemm import GemmInputs
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.mindspore_backend.device import MindSporeDevice
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.gemm import Gemm


def function(
    backend: MindSporeDevice, problem: Gemm, drawn: GemmInputs, precision: str, operation: str
) -> Function:
    """Return the product; raise Unsupported for int8."""
    if precision == "int8":
        raise Unsupported("mindspore adds up its products of int8 in 8 bits on the cpu")
    stored = gemm.row_major(problem, drawn)
    multiply = ops.MatMul(transpose_a=problem.b_transposed, transpose_b=problem.a_transposed)

    def product(b: Any, a: Any, c: Any) -> Any:
        return ops.add(c, multiply(b, a))

    return Function(
        compile=backend.called(product, backend.tensors(precision, stored.b, stored.a, stored.c)),
        read=lambda output: output.asnumpy().T,
        notes={"route": "ops.add of c and ops.MatMul"},
    )
