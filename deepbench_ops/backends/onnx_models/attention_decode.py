"""Attention of a decoding step as the ONNX model of `attention`, with the cache as input."""

from deepbench_ops.backends.onnx_models import microsoft_attention, openvino_attention
from deepbench_ops.backends.onnx_models.attention import model

__all__ = ["OTHERWISE", "OWN", "model"]

OTHERWISE = {"onnxruntime": microsoft_attention.model}
"""Models for releases of a runtime that cannot read `model`."""

OWN = {"openvino": openvino_attention.model}
"""Models with a runtime's own operator, which it takes in all releases."""
