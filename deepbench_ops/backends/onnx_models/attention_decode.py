"""Attention of a decoding step as the ONNX model of `attention`, with the cache as input."""

from deepbench_ops.backends.onnx_models.attention import model

__all__ = ["model"]
