"""MindSpore on the CPU: tensors, calls that wait for their output, threads and versions."""

import ctypes
import os
from collections.abc import Callable
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar

import mindspore as ms
import numpy as np

from deepbench_ops.backends import onednn_log
from deepbench_ops.backends.functional import NO_TF32, Call, CpuBackend, with_implementation

DTYPES = {
    "float32": ms.float32,
    "float16": ms.float16,
    "int8": ms.int8,
    "int32": ms.int32,
}
LACKING_WORDS = ("Unsupported op", "not support", "Select CPU operator", "Can not select")
"""Parts of MindSpore's messages about operations that it does not have."""


class MindSporeDevice(CpuBackend):
    """MindSpore on the "cpu"."""

    name = "mindspore"
    compiles = False
    lacking: ClassVar = {
        "tf32": NO_TF32,
        "bfloat16": "mindspore has no product of bfloat16 on the cpu",
    }
    lacking_families: ClassVar = dict.fromkeys(
        ("attention", "attention_decode"),
        "mindspore's attention operator (ops.flash_attention_score) is for Ascend processors alone",
    )
    lacking_layouts: ClassVar = {
        "channels_last": "mindspore has convolutions in NCHW only on the cpu"
    }

    @cached_property
    def _ready(self) -> bool:
        """Choose device and threads, before the first tensor; always True.

        MindSpore starts a thread for each processor that the process may use, whatever its
        settings. Its runtime starts with the first operation, and the first `synchronize` returns
        at once, without waiting. So this property runs an operation and waits once, before any
        call is timed.
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
        """Return several tensors, each as `tensor` returns it."""
        return tuple(self.tensor(each, precision) for each in values)

    def called(self, function: Callable[..., Any], operands: tuple[Any, ...]) -> Callable[[], Call]:
        """Return a function that returns a call of `function` on `operands`; see
        `functional.Function.compile`. The call waits for its output, and names oneDNN's calls."""
        synchronise = ms.runtime.synchronize

        def call() -> Any:
            output = function(*operands)
            synchronise()
            return output

        return lambda: with_implementation(call, partial(_onednn_calls, call))

    def lacks(self, error: Exception) -> bool:
        """Return whether `error` is MindSpore's report of a missing operation or type."""
        return any(words in str(error) for words in LACKING_WORDS)

    def versions(self) -> dict[str, str]:
        """Return the versions of mindspore and numpy, and the number of threads."""
        return {
            "framework": f"mindspore {ms.__version__}",
            "mindspore": str(ms.__version__),
            "numpy": np.__version__,
            "runtime_threads": str(self.threads()),
        }


def _onednn_calls(call: Call) -> str:
    """Return the distinct calls of oneDNN in a call; "mindspore" where there are none, "" without
    its library."""
    library = next(Path(ms.__file__).with_name("lib").glob("libdnnl.so.*"), None)
    if library is None:
        return ""
    verbose = ctypes.CDLL(str(library)).dnnl_set_verbose
    with onednn_log.diverted_stdout() as text:
        verbose(1)
        try:
            call()
        finally:
            verbose(0)
    calls = filter(None, map(onednn_log.call, text[0].splitlines()))
    return ", ".join(dict.fromkeys(calls)) or "mindspore"
