"""jax on one device: arrays, compilation, threads, memory and versions."""

import os
from collections.abc import Callable
from functools import cached_property
from types import ModuleType
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from deepbench_ops.backends import functional
from deepbench_ops.backends.backend_interface import Backend, Builder
from deepbench_ops.backends.free_memory import available
from deepbench_ops.backends.functional import Call
from deepbench_ops.backends.jax_backend import xla_names
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.problem import Problem
from deepbench_ops.run_conditions import DEVICE

DTYPES = {
    "float32": jnp.float32,
    "tf32": jnp.float32,
    "bfloat16": jnp.bfloat16,
    "float16": jnp.float16,
    "int8": jnp.int8,
    "int32": jnp.int32,
}

THREADS_VARIABLE = "NPROC"
"""Environment variable with the number of threads of XLA's pool on the CPU; without it the pool has
a thread for each processor."""

RESERVE_VARIABLE = "XLA_PYTHON_CLIENT_PREALLOCATE"
"""Environment variable that is set to false. Otherwise jax takes three quarters of a GPU's
memory at its first operation, which leaves too little for a second process or the yardstick."""

LACKING_WORDS = (
    "UNIMPLEMENTED",
    "is not supported by dot_general",
    "Unsupported dtype for inputs",  # cuDNN's attention
)
"""Parts of the reports of jax and XLA about operations that do not exist."""

_pool: list[int] = []
"""The number of threads of the pool, or empty before the pool exists; a process has one pool."""


class JaxDevice(Backend):
    """jax on "cpu" or "cuda" (the first GPU)."""

    name = "jax"
    devices: ClassVar[tuple[str, ...]] = ("cpu", "cuda")
    compiles = True
    lacking_families: ClassVar = {
        "model": "jax has no layers and no optimisers of its own: whole networks are measured in"
        " torch and mindspore",
    }

    def __init__(self, device: str = "cpu") -> None:
        self.device = device
        os.environ.setdefault(RESERVE_VARIABLE, "false")
        if device != "cpu":
            _require_gpu()
        elif os.environ.get(DEVICE.variable) == "cpu":  # this process uses no other device
            jax.config.update("jax_platforms", "cpu")

    @classmethod
    def builder_in(cls, module: ModuleType) -> Builder:
        """Return the builder of kernels that a family's module defines."""
        return functional.builder_in(module)

    def build(
        self, problem: Problem, precision: str, operation: str = "forward", seed: int = 0
    ) -> Kernel:
        """Prepare a kernel as `Backend.build` does; raise Unsupported for tf32 on the CPU."""
        if precision == "tf32" and self.device == "cpu":
            raise Unsupported("tf32 exists only on NVIDIA GPUs, not on cpu")
        return super().build(problem, precision, operation, seed)

    @cached_property
    def _place(self) -> Any:
        """jax's object for the device; its first use starts the threads of XLA's pool."""
        found = jax.devices(self.device)[0]
        if found.platform != jax.default_backend():  # such as the processor next to a GPU
            jax.config.update("jax_default_device", found)
        if not _pool:
            _pool.append(self.threads())
        return found

    def array(self, values: np.ndarray, precision: str) -> Any:
        """Return row-major `values` on the device, in the type of `precision`."""
        return jax.device_put(values.astype(DTYPES[precision], copy=False), self._place)

    def arrays(self, precision: str, *values: np.ndarray) -> tuple[Any, ...]:
        """Return several arrays, each as `array` returns it."""
        return tuple(self.array(each, precision) for each in values)

    def compiled(
        self, function: Callable[..., Any], operands: tuple[Any, ...]
    ) -> Callable[[], Call]:
        """Return a function that compiles `function` for `operands`; see `functional.Function`.

        On the CPU a call waits for its output, since jax would otherwise run several calls at once.
        On a GPU it only enqueues the operation.
        """
        waiting = self.device == "cpu"

        def compile_it() -> Call:
            # A new function each time, since jax caches compiled functions by identity.
            jitted = jax.jit(lambda *given: function(*given))

            def call() -> Any:
                output = jitted(*operands)
                return jax.block_until_ready(output) if waiting else output

            def implementation() -> str:
                return xla_names.of(jitted.lower(*operands).compile().as_text() or "")

            return functional.with_implementation(call, implementation)

        return compile_it

    def wait(self, output: Any) -> None:
        """Return once an output is complete."""
        jax.block_until_ready(output)

    def precision_of_products(self, precision: str) -> Any:
        """Return jax's precision setting for products: hardware must not use fewer bits than the
        precision has."""
        return jax.lax.Precision.DEFAULT if precision == "tf32" else jax.lax.Precision.HIGHEST

    def type_of_sums(self, precision: str, *sizes: int) -> Any:
        """Return the type in which jax keeps the sums of a product before they are rounded.

        sizes: those of the result. XLA turns a product with a vector on a GPU into multiplications
        and a sum in the type of the result, which would round each product to 16 bits; it then gets
        float32.
        """
        vector = self.device != "cpu" and 1 in sizes
        return jnp.float32 if vector else DTYPES[precision]

    def lacks(self, error: Exception) -> bool:
        """Return whether `error` is a report of jax or XLA that the operation does not exist."""
        said = str(error)
        worded = any(words in said for words in LACKING_WORDS)
        return worded or isinstance(error, NotImplementedError)

    def memory_available(self) -> float:
        """Return the free memory in bytes: of the system for the CPU, of the allocator for a
        GPU."""
        if self.device == "cpu":
            return available()
        figures = self._place.memory_stats() or {}
        if "bytes_limit" not in figures:
            return float("inf")
        return float(figures["bytes_limit"] - figures.get("bytes_in_use", 0))

    def threads(self) -> int:
        """Return the number of threads of XLA's pool on the CPU, which may not exist yet."""
        if _pool:
            return _pool[0]
        asked = os.environ.get(THREADS_VARIABLE, "")
        return int(asked) if asked.isdigit() else len(os.sched_getaffinity(0))

    def set_threads(self, count: int) -> None:
        """Set the number of threads of the pool, which the first operation creates.

        Raises Unsupported where a pool with another number exists.
        """
        if _pool and _pool[0] != count:
            raise Unsupported(
                f"jax already runs with {_pool[0]} threads and cannot change them: start a new"
                f" process for {count} threads"
            )
        os.environ[THREADS_VARIABLE] = str(count)

    def versions(self) -> dict[str, str]:
        """Return the versions of jax, jaxlib and numpy, the number of threads of XLA's pool, and,
        for a GPU, its name and runtime."""
        import jaxlib.version

        found = {
            "framework": f"jax {jax.__version__}",
            "jax": jax.__version__,
            "jaxlib": jaxlib.version.__version__,
            "numpy": np.__version__,
            "xla_threads": str(self.threads()),
        }
        if self.device != "cpu":
            runtime = " ".join(self._place.client.platform_version.split())
            found |= {"device": self._place.device_kind, "xla_runtime": runtime}
        return found


def _require_gpu() -> None:
    try:
        jax.devices("cuda")
    except RuntimeError:
        raise Unsupported(
            f"jax {jax.__version__} finds no usable GPU, or is installed without jax[cuda]"
        ) from None
