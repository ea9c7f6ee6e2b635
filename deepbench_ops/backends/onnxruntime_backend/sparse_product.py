"""C = A·B with A in compressed rows: onnxruntime's own operator, with Eigen's sparse matrices."""

from typing import Any

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper

from deepbench_ops.backends.families.sparse_gemm import (
    SparseInputs,
    layout_of_a,
    layout_of_b,
    row_major,
)
from deepbench_ops.backends.functional import Call, Function
from deepbench_ops.backends.onnx_models.graph import IR_VERSION, OPSET
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.sparse_gemm import SparseGemm

DOMAIN = "com.microsoft"
OPERATOR = "SparseToDenseMatMul"


def function(backend: Any, problem: SparseGemm, drawn: SparseInputs, precision: str) -> Function:
    """Return the product in float32; raise Unsupported for other precisions."""
    if precision != "float32":
        raise Unsupported(f"onnxruntime's {OPERATOR} has float32, not {precision}")
    a = drawn.a
    b = row_major(drawn.b)

    def compile_it() -> Call:
        session = backend.session(_serialised(problem))
        # The runtime's sparse tensors have 64-bit positions.
        columns, offsets = (part.astype(np.int64) for part in (a.columns, a.offsets))
        device = ort.OrtDevice.make("cpu", 0)
        rows = ort.SparseTensor.sparse_csr_from_numpy(
            list(a.shape), a.values, columns, offsets, device
        )
        feeds = {
            "a": ort.OrtValue.ort_value_from_sparse_tensor(rows),
            "b": ort.OrtValue.ortvalue_from_numpy(b),
        }

        def call() -> Any:
            return session.run_with_ort_values(None, feeds)

        return call

    return Function(
        compile=compile_it,
        read=lambda outputs: outputs[0].numpy(),
        notes={
            "layout": layout_of_a(problem, compressed=True).replace("int32", "int64")
            + f"; {layout_of_b(problem, 'row-major').replace('vectors', 'matrices of one column')}",
            "route": f"{DOMAIN}.{OPERATOR}: Eigen's loop",
        },
    )


def _serialised(problem: SparseGemm) -> bytes:
    """Return a model whose input `a` is a sparse tensor."""
    turned: dict[str, Any] = {"transA": int(problem.a_transposed)}
    node = helper.make_node(OPERATOR, ["a", "b"], ["c"], domain=DOMAIN, **turned)
    m, n, k = problem.m, problem.n, problem.k
    graph = helper.make_graph(
        [node],
        "deepbench",
        [
            helper.make_sparse_tensor_value_info(
                "a", TensorProto.FLOAT, [k, m] if problem.a_transposed else [m, k]
            ),
            helper.make_tensor_value_info("b", TensorProto.FLOAT, [k, n]),
        ],
        [helper.make_tensor_value_info("c", TensorProto.FLOAT, [m, n])],
    )
    domains = [helper.make_opsetid("", OPSET), helper.make_opsetid(DOMAIN, 1)]
    model = helper.make_model(graph, opset_imports=domains, ir_version=IR_VERSION)
    return bytes(model.SerializeToString())
