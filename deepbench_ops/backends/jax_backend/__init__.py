"""jax on the CPU or a GPU: one module per family of kernels, each compiled by jax.jit."""

POSITION = 30
"""Place among the frameworks in tables and menus."""

VARIABLES = ("JAX_", "XLA_")
"""Prefixes of the environment variables that steer it."""

COMPANIONS = ("jaxlib",)
"""Other packages that this backend needs."""
