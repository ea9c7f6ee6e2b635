"""Attention of a decoding step in jax, by the code for `attention`."""

from deepbench_ops.backends.jax_backend.attention import function

__all__ = ["function"]
