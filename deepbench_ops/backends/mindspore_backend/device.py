"""MindSpore on the CPU, without the kernels: tensors, calls that wait, threads and versions."""

import os
from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar

import mindspore as ms
import numpy as np

from deepbench_ops.backends.functional import NO_TF32, Call, CpuBackend

DTYPES = {
    "float32": ms.float32,
    "float16": ms.float16,
    "int8": ms.int8,
    "int32": ms.int32,
}
LACKING_WORDS = ("Unsupported op", "not support", "Select CPU operator", "Can not select")


class MindSporeDevice(CpuBackend):
    """MindSpore on the "cpu"."""

    name = "mindspore"
    compiles = False
    lacking: ClassVar = {
        "tf32": NO_TF32,
        "bfloat16": "mindspore has no product of bfloat16 on the cpu",
    }
    nchw_alone = "mindspore convolves NCHW alone on the cpu"

    @cached_property
    def _ready(self) -> bool:
        """Choose device and threads, before the first tensor.

        MindSpore has a thread for each processor that it may run on, whatever its settings. Its
        runtime comes into being with the first operation, and the first time that it is asked to
        wait, it returns at once: the next call would be timed with the one before. So the first
        operation, and the first waiting, are for none of ours.
        """
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: self.settle_threads()])
        ms.set_device("CPU")
        ms.set_context(mode=ms.PYNATIVE_MODE)
        one = ms.Tensor(np.ones(1, np.float32))
        (one + one).asnumpy()
        ms.runtime.synchronize()
        return True

    def settle(self) -> None:
        """Fix device and threads, before the first tensor."""
        _ = self._ready

    def tensor(self, values: np.ndarray, precision: str) -> Any:
        """Return row-major `values` as a tensor in the type of `precision`."""
        self.settle()
        return ms.Tensor(np.ascontiguousarray(values), DTYPES[precision])

    def tensors(self, precision: str, *values: np.ndarray) -> tuple[Any, ...]:
        """Return several."""
        return tuple(self.tensor(each, precision) for each in values)

    def called(self, function: Callable[..., Any], operands: tuple[Any, ...]) -> Callable[[], Call]:
        """Return what calls `function` on `operands` and waits for its output."""
        synchronise = ms.runtime.synchronize

        def call() -> Any:
            output = function(*operands)
            synchronise()
            return output

        return lambda: call

    def lacks(self, error: Exception) -> bool:
        """Return whether MindSpore says that it has no such operation for a type."""
        return any(words in str(error) for words in LACKING_WORDS)

    def versions(self) -> dict[str, str]:
        """Return mindspore, numpy and the threads of its runtime."""
        return {
            "framework": f"mindspore {ms.__version__}",
            "mindspore": str(ms.__version__),
            "numpy": np.__version__,
            "runtime_threads": str(self.threads()),
        }
