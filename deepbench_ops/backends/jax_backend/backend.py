"""jax on the CPU or a GPU: one module per family of kernels, each compiled by jax.jit."""

from deepbench_ops.backends.jax_backend.device import JaxDevice


class JaxBackend(JaxDevice):
    """All kernels of jax."""
