"""The dense product of a sparse problem in OpenVINO; ONNX models have no sparse product."""

from deepbench_ops.backends.onnx_models.sparse_gemm_as_dense import model

__all__ = ["model"]
