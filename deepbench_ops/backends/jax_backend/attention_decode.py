"""Attention of a decoding step in jax: that of `attention`."""

from deepbench_ops.backends.jax_backend.attention import function

__all__ = ["function"]
