"""Attention of a decoding step as an ONNX model: that of `attention`, with the cache fed."""

from deepbench_ops.backends.onnx_models.attention import model

__all__ = ["model"]
