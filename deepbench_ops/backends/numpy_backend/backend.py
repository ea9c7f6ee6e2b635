"""numpy and scipy on the CPU: one module per family of kernels."""

import os
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any, ClassVar

import numpy as np

from deepbench_ops.backends.backend_interface import Backend
from deepbench_ops.backends.free_memory import available
from deepbench_ops.backends.numpy_backend import loaded_blas
from deepbench_ops.errors import Unsupported

BLAS_THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")
"""Environment variables with the number of threads of BLAS libraries."""


class NumpyBackend(Backend):
    """numpy, with scipy for sparse operations."""

    name = "numpy"
    lacking_families: ClassVar = {
        "model": "numpy has no layers and no gradients: whole networks are measured in torch and"
        " mindspore",
        "quantisation": "numpy has no bfloat16, in which the rows are, and no operation that"
        " computes codes with scales",
    }

    def __init__(self, device: str = "cpu") -> None:
        super().__init__(device)
        self._blas = loaded_blas.of_numpy(_built_with())

    @classmethod
    def import_families(cls) -> None:
        super().import_families()
        _scipy_version()

    def memory_available(self) -> float:
        """Return the bytes that can be allocated without swapping, as the system reports them."""
        return available()

    def threads(self) -> int | None:
        """Return the thread count of the BLAS library, or else that in the environment
        variables."""
        if self._blas is not None:
            return self._blas.threads()
        asked = [os.environ.get(name, "") for name in BLAS_THREAD_VARIABLES]
        return next((int(text) for text in asked if text.isdigit()), None)

    def set_threads(self, count: int) -> None:
        """Set the thread count of the BLAS library.

        A library that threadpoolctl does not know, such as Accelerate, reads its thread count from
        the environment when numpy is imported. For such a library raise Unsupported, unless the
        environment already says `count`.
        """
        if self._blas is not None:
            self._blas.set_threads(count)
        if self.threads() != count:
            raise Unsupported(
                "numpy's BLAS library cannot change its number of threads: set"
                f" {', '.join(f'{name}={count}' for name in BLAS_THREAD_VARIABLES)} before the"
                " process starts"
            )

    def implementation(self) -> str:
        """Return the BLAS library and the code path that it chose, such as "openblas Zen"."""
        return "" if self._blas is None else f"{self._blas.name} {self._blas.core()}".strip()

    def versions(self) -> dict[str, str]:
        """Return numpy, scipy, blas (as built), blas_runtime (as loaded), blas_core (code path) and
        blas_threads.

        blas_core is absent where the library does not report it, as MKL.
        """
        found = {"framework": f"numpy {np.__version__}", "numpy": np.__version__}
        if scipy := _scipy_version():
            found["scipy"] = scipy
        found["blas"] = _built_with()
        if self._blas is not None:
            found["blas_runtime"] = self._blas.config()
            if core := self._blas.core():
                found["blas_core"] = core
            found["blas_threads"] = str(self._blas.threads())
        return found


@cache
def _scipy_version() -> str:
    """Return the version of scipy, "" where it is not installed.

    Reading it takes milliseconds, so that it is read before processes are forked.
    """
    try:
        return version("scipy")
    except PackageNotFoundError:
        return ""


def _built_with() -> str:
    """Return name and version of the BLAS library that numpy was built with, "unknown" if numpy
    does not report it."""
    try:
        config: Any = np.show_config(mode="dicts")  # type: ignore[call-arg]
        blas = config["Build Dependencies"]["blas"]
        return f"{blas['name']} {blas['version']}"
    except (TypeError, KeyError):
        # numpy before 1.26 reports only the names of the libraries.
        legacy = vars(np).get("__config__")
        for section in ("blas_ilp64_opt_info", "blas_opt_info"):
            libraries = getattr(legacy, section, {}).get("libraries")
            if libraries:
                return " ".join(dict.fromkeys(libraries))
    return "unknown"
