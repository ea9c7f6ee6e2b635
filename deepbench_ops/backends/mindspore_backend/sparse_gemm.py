"""The dense twin of a sparse product in MindSpore, whose sparse products need a GPU or an NPU."""

from mindspore import ops

from deepbench_ops.backends.families.sparse_gemm import SparseInputs, layout_of_a, layout_of_b
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.mindspore_backend.device import MindSporeDevice
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.sparse_gemm import SparseGemm


def function(
    backend: MindSporeDevice,
    problem: SparseGemm,
    drawn: SparseInputs,
    precision: str,
    operation: str,
) -> Function:
    """Return the dense product."""
    if operation != "dense_forward":
        raise Unsupported("mindspore multiplies compressed rows on GPUs and NPUs, not on the cpu")
    if precision == "int8":
        raise Unsupported("mindspore has no product of int8 with 32-bit sums on the cpu")
    stored = drawn.b if problem.b_transposed else drawn.b.T
    operands = backend.tensors(precision, stored, drawn.a.dense().T)
    multiply = ops.MatMul(transpose_a=problem.b_transposed, transpose_b=problem.a_transposed)
    return Function(
        compile=backend.called(multiply, operands),
        read=lambda output: output.asnumpy().T,
        notes={
            "layout": f"{layout_of_a(problem, compressed=False)};"
            f" {layout_of_b(problem, 'column-major')}",
            "route": "ops.MatMul",
        },
    )
