"""The library code that a call of torch uses on the CPU, from the logs of oneDNN and MKL.

Both libraries can print a line for each of their calls. The log is read for one untimed call.
"""

import re
from collections.abc import Iterator
from contextlib import ExitStack

import torch

from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.torch_backend.onednn_primitive import diverted_stdout

PRIMITIVE = "primitive"
"""Name of the note in which kernels of convolutions have the primitive, with the layouts."""

WHOLE = ("model", "moe_layer")
"""Families whose kernels consist of many operations and have no single implementation."""

_ONEDNN = re.compile(r"(?:onednn|dnnl)_verbose,(?:v\d,)?(?:primitive,)?exec,cpu,(\w+),([^,]*),")
_MKL = re.compile(r"MKL_VERBOSE ([A-Z]\w+)\(")
_REORDER = "reorder"


def implementation(kernel: Kernel, device: str, family: str) -> str:
    """Return the library code of a kernel, such as "mkl SGEMM" or "onednn matmul brg:avx512_core".

    "" on other devices and for families in WHOLE; "torch" where neither library was called.
    """
    if device != "cpu" or family in WHOLE:
        return ""
    if PRIMITIVE in kernel.notes:
        return kernel.notes[PRIMITIVE]
    with diverted_stdout() as text, ExitStack() as logs:
        logs.enter_context(torch.backends.mkldnn.verbose(1))
        if torch.backends.mkl.is_available() and hasattr(torch.backends.mkl, "verbose"):
            logs.enter_context(torch.backends.mkl.verbose(1))
        kernel.run()
    return summary(text[0])


def summary(log: str) -> str:
    """Return the distinct calls in a log, in order; "torch" for a log without calls."""
    return ", ".join(dict.fromkeys(_calls(log))) or "torch"


def _calls(log: str) -> Iterator[str]:
    for line in log.splitlines():
        if (found := _ONEDNN.match(line)) and found[1] != _REORDER:
            yield f"onednn {found[1]} {found[2]}".strip()
        elif found := _MKL.match(line):
            yield f"mkl {found[1]}"
