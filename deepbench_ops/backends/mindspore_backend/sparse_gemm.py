"""The dense product for comparison in MindSpore, whose sparse products fail on the CPU."""

from mindspore import ops

from deepbench_ops.backends.families.sparse_gemm import SparseInputs, layout_note
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
    """Return the dense product; raise Unsupported for the other operations and for int8."""
    if operation != "dense_forward":
        raise Unsupported(
            "mindspore's products of compressed rows fail on the cpu (seen in 2.10.0)"
        )
    if precision == "int8":
        raise Unsupported("mindspore adds up its products of int8 in 8 bits on the cpu")
    stored = drawn.b if problem.b_transposed else drawn.b.T
    operands = backend.tensors(precision, stored, drawn.a.dense().T)
    multiply = ops.MatMul(transpose_a=problem.b_transposed, transpose_b=problem.a_transposed)
    return Function(
        compile=backend.called(multiply, operands),
        read=lambda output: output.asnumpy().T,
        notes={
            "layout": layout_note(problem, compressed=False, order="column-major"),
            "route": "ops.MatMul",
        },
    )
