"""Sparse products in ONNX Runtime: its own operator for `forward`, ONNX's operators otherwise."""

from typing import Any

from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.onnx_models import runtime, sparse_gemm_as_dense
from deepbench_ops.backends.onnxruntime_backend import sparse_product


def function(backend: Any, problem: Any, drawn: Any, precision: str, operation: str) -> Function:
    """Return one of the three operations, with its operands bound."""
    if operation == "forward":
        return sparse_product.function(backend, problem, drawn, precision)
    return runtime.function(
        sparse_gemm_as_dense.model, backend, problem, drawn, precision, operation
    )
