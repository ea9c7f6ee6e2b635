"""numpy: the only framework in here without a GEMM that adds to C, and with none for 16 bits.

C = A·B + C is numpy's own two calls, a product into a scratch array and an addition: what numpy
can do without help is what is measured. Arrays hold column-major matrices as the C-contiguous
transposes, so the product is C^T = op(B)^T · op(A)^T; numpy hands that to BLAS as it lies, with
its transposes and without a copy.
"""

import os
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from deepbench_ops.backends import openblas
from deepbench_ops.backends.base import Backend
from deepbench_ops.backends.inputs import aligned_empty, gemm_inputs
from deepbench_ops.backends.kernel import Index, Kernel
from deepbench_ops.backends.reference import GemmReference
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.gemm import Gemm

ROUTES = {
    "float32": "np.matmul through BLAS, then np.add",
    "float16": "np.matmul by numpy's own loop adding in float32, no BLAS; then np.add",
    "int8": "np.matmul by numpy's own int32 loop over operands widened in every call, no BLAS;"
    " then np.add",
}
LACKING = {
    "tf32": "numpy has no tf32: it exists only on NVIDIA GPUs",
    "bfloat16": "numpy has no bfloat16 type",
}
THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")


class NumpyBackend(Backend):
    """numpy on the CPU."""

    name = "numpy"

    def __init__(self, device: str = "cpu") -> None:
        if device != "cpu":
            raise Unsupported(f"numpy runs on the cpu only, not on {device}")
        self.device = device
        self._blas = openblas.of_numpy()

    def gemm(self, problem: Gemm, precision: str, seed: int = 0) -> Kernel:
        """Prepare a GEMM in float32 (BLAS), float16 or int8 (numpy's own, slow loops)."""
        if precision in LACKING:
            raise Unsupported(LACKING[precision])
        inputs = gemm_inputs(problem, precision, seed)
        initial = inputs.c.T
        output = aligned_empty(initial.shape, initial.dtype)
        product = aligned_empty(initial.shape, initial.dtype)
        reset = partial(np.copyto, output, initial)
        reset()

        def peek(index: Index) -> np.ndarray:
            return _widened(output.T[index])

        return Kernel(
            label=f"numpy cpu {precision} {problem.id}",
            run=_bind(inputs.b.T, inputs.a.T, product, output),
            synchronise=_nothing,
            reset=reset,
            result=lambda: _widened(output.T),
            peek=peek,
            reference=GemmReference(inputs, precision),
            flops=problem.flops,
            bytes=problem.bytes(precision),
            notes={**inputs.notes, "route": ROUTES[precision], "padding": "none"},
        )

    def threads(self) -> int | None:
        """Return OpenBLAS's thread count; with another BLAS what the environment asks for."""
        if self._blas is not None:
            return self._blas.threads()
        asked = [os.environ.get(name, "") for name in THREAD_VARIABLES]
        return next((int(text) for text in asked if text.isdigit()), None)

    def set_threads(self, count: int) -> None:
        """Set OpenBLAS's thread count.

        Any other BLAS takes it only from the environment and before numpy is imported; then
        Unsupported is raised unless the environment asked for `count` already.
        """
        if self._blas is not None:
            self._blas.set_threads(count)
        elif self.threads() != count:
            raise Unsupported(
                f"numpy's BLAS is not the bundled OpenBLAS: for {count} threads set"
                f" {', '.join(f'{name}={count}' for name in THREAD_VARIABLES)} before starting"
            )

    def versions(self) -> dict[str, str]:
        """Return numpy, blas (as built), blas_runtime (as loaded) and blas_core (code path)."""
        found = {"framework": f"numpy {np.__version__}", "numpy": np.__version__}
        found["blas"] = _built_with()
        if self._blas is not None:
            found["blas_runtime"] = self._blas.config()
            found["blas_core"] = self._blas.core()
            found["blas_threads"] = str(self._blas.threads())
        return found


def _bind(
    left: np.ndarray, right: np.ndarray, product: np.ndarray, output: np.ndarray
) -> Callable[[], object]:
    """Return the two calls with nothing but their operands looked up at run time."""
    matmul, add = np.matmul, np.add
    if left.dtype == np.int8:
        int32 = np.dtype(np.int32)

        def run_int8() -> None:
            matmul(left, right, product, dtype=int32)
            add(output, product, output)

        return run_int8

    def run() -> None:
        matmul(left, right, product)
        add(output, product, output)

    return run


def _nothing() -> None:
    """Everything is done when the call returns."""


def _widened(values: np.ndarray) -> np.ndarray:
    return values.astype(np.int64 if values.dtype == np.int32 else np.float64)


def _built_with() -> str:
    """Return name and version of the BLAS numpy was built with, as far as it says."""
    try:
        config: Any = np.show_config(mode="dicts")  # type: ignore[call-arg]
        blas = config["Build Dependencies"]["blas"]
        return f"{blas['name']} {blas['version']}"
    except (TypeError, KeyError):
        # Before 1.26 there were no dicts, and no version; the libraries' names must do.
        legacy = vars(np).get("__config__")
        for section in ("blas_ilp64_opt_info", "blas_opt_info"):
            libraries = getattr(legacy, section, {}).get("libraries")
            if libraries:
                return " ".join(dict.fromkeys(libraries))
    return "unknown"
