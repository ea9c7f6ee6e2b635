"""The library code that a call of torch uses: oneDNN's and MKL's on the CPU, kernels on a GPU.

Both libraries can print a line for each of their calls; torch's profiler lists the kernels of a
GPU. The log, or the profile, is that of one untimed call.
"""

import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import ExitStack

import torch
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile

from deepbench_ops.backends import onednn_log
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.onednn_log import diverted_stdout

PRIMITIVE = "primitive"
"""Name of the note in which kernels of convolutions have the primitive, with the layouts."""

WHOLE = ("model", "moe_layer")
"""Families whose kernels consist of many operations and have no single implementation."""

_MKL = re.compile(r"MKL_VERBOSE ([A-Z]\w+)\(")
_COPIES = ("Memcpy", "Memset")
"""Starts of the names of events on a GPU that are no kernels."""

KERNEL_NAME_LENGTH = 90
"""Characters that are kept of a kernel's name, which may have a thousand."""


def implementation(kernel: Kernel, device: str, family: str) -> str:
    """Return the library code of a kernel, such as "mkl SGEMM" or "onednn matmul brg:avx512_core".

    On a GPU these are the names of its kernels. "" for families in WHOLE; "torch" where neither
    library was called.
    """
    if family in WHOLE:
        return ""
    if device != "cpu":
        return kernels_of_gpu(_events_of_gpu(kernel))
    if PRIMITIVE in kernel.notes:
        return kernel.notes[PRIMITIVE]
    with diverted_stdout() as text, ExitStack() as logs:
        logs.enter_context(torch.backends.mkldnn.verbose(1))
        if _mkl_has_log():
            logs.enter_context(torch.backends.mkl.verbose(1))
        kernel.run()
    return summary(text[0])


def find_clock_rate() -> str:
    """Let MKL find the processor's clock rate, for its log; return the log.

    It takes MKL up to a second, once in a process and those forked from it. The product has two
    terms, so that MKL starts no thread.
    """
    if not _mkl_has_log():
        return ""
    with diverted_stdout() as text, torch.backends.mkl.verbose(1):
        torch.dot(torch.ones(2), torch.ones(2))
    return text[0]


def _mkl_has_log() -> bool:
    return torch.backends.mkl.is_available() and hasattr(torch.backends.mkl, "verbose")


def _events_of_gpu(kernel: Kernel) -> list[str]:
    """Return the names of the work of the GPU in a call, in order."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a warning about several steps
        with profile(activities=[ProfilerActivity.CUDA]) as seen:
            kernel.run()
            kernel.synchronise()
    events = [each for each in seen.events() or () if each.device_type != DeviceType.CPU]
    return [each.name for each in sorted(events, key=lambda each: each.time_range.start)]


def kernels_of_gpu(events: Iterable[str]) -> str:
    """Return the distinct kernels among events of a GPU, in order, without arguments."""
    plain = (_without_arguments(name) for name in events if not name.startswith(_COPIES))
    return ", ".join(dict.fromkeys(plain))


def _without_arguments(name: str) -> str:
    """Return the start of a kernel's name, without result type, arguments and spaces."""
    found = name.removeprefix("void ").replace("(anonymous namespace)::", "")
    return found.partition("(")[0].replace(" ", "")[:KERNEL_NAME_LENGTH]


def summary(log: str) -> str:
    """Return the distinct calls in a log, in order; "torch" for a log without calls."""
    return ", ".join(dict.fromkeys(_calls(log))) or "torch"


def _calls(log: str) -> Iterator[str]:
    for line in log.splitlines():
        if name := onednn_log.call(line):
            yield name
        elif found := _MKL.match(line):
            yield f"mkl {found[1]}"
