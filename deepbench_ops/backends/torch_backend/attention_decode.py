"""Attention of a decoding step in torch, by the code for `attention`."""

from deepbench_ops.backends.torch_backend.attention import build

__all__ = ["build"]
