"""Attention of a decoding step in TensorFlow, by the code for `attention`."""

from deepbench_ops.backends.tensorflow_backend.attention import function

__all__ = ["function"]
