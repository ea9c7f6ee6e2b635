"""Attention of a decoding step in numpy, by the code for `attention`."""

from deepbench_ops.backends.numpy_backend.attention import build

__all__ = ["build"]
