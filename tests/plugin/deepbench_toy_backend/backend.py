"""The framework's class."""

from deepbench_ops.backends.numpy_backend.backend import NumpyBackend


class ToyBackend(NumpyBackend):
    """numpy under another name, with matrix products alone."""

    name = "toy"

    @classmethod
    def builder(cls, family):
        return super().builder(family) if family == "gemm" else None

    def versions(self):
        return {**super().versions(), "framework": "toy 1.0"}
