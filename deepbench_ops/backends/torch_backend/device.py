"""torch on one device: missing operations, threads, memory and versions.

Operations that a release does not have are found in the check of a small problem before every
timing, not in a table of releases.
"""

import re
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch

from deepbench_ops.backends.backend_interface import Backend, done
from deepbench_ops.backends.free_memory import available
from deepbench_ops.backends.torch_backend import optional_packages
from deepbench_ops.backends.torch_backend.tensors import at
from deepbench_ops.errors import DeepbenchError, Unsupported

DRIVER = Path("/proc/driver/nvidia/version")
"""File with the version of the NVIDIA driver."""

# Parts of torch's messages about operations that do not exist for a type, device or chip.
_LACKING = re.compile(
    r"not (been )?(implemented|supported|compiled)|only supported|could not run|no kernel image"
    r"|could not create a primitive|one of the following scalar types"
    r"|CUBLAS_STATUS_(NOT_SUPPORTED|ARCH_MISMATCH|INVALID_VALUE)",
    re.IGNORECASE,
)


class TorchDevice(Backend):
    """torch on "cpu" or "cuda" (the current GPU)."""

    name = "torch"
    devices: ClassVar[tuple[str, ...]] = ("cpu", "cuda")

    def __init__(self, device: str = "cpu") -> None:
        self.device = device
        if device == "cuda":
            _require_gpu()

    def lacks(self, error: Exception) -> bool:
        """Return whether `error` is torch's report of an operation that does not exist for a type,
        device or chip. Any other error is a fault, which must not be skipped."""
        if isinstance(error, AttributeError):
            return str(error).startswith(("module 'torch", "'torch", "'_OpNamespace'"))
        if isinstance(error, IndexError):
            return str(error).startswith("tensors used as indices must be")
        if isinstance(error, NotImplementedError):
            return True
        # Scaled and grouped products raise ValueError on a chip that does not have them.
        return isinstance(error, RuntimeError | ValueError) and bool(_LACKING.search(str(error)))

    def memory_available(self) -> float:
        """Return the free memory in bytes, of the GPU or of the system."""
        if self.device == "cuda":
            return float(torch.cuda.mem_get_info()[0])
        return available()

    def tensor(self, values: np.ndarray, dtype: torch.dtype) -> torch.Tensor:
        """Return `values` on the device, converted, with the same strides."""
        return torch.from_numpy(values).to(device=self.device, dtype=dtype)

    @cached_property
    def synchronise(self) -> Callable[[], object]:
        """Function that returns once everything enqueued on the device has been done."""
        return torch.cuda.synchronize if self.device == "cuda" else done

    def read(self, output: torch.Tensor, index: tuple[Any, ...]) -> np.ndarray:
        """Return entries of an output as an array on the host; the index () means all entries."""
        return at(output, index)

    def threads(self) -> int:
        """Return the number of threads of torch's own pool."""
        return int(torch.get_num_threads())

    def set_threads(self, count: int) -> None:
        """Set the size of torch's own pool, which MKL and oneDNN use as well."""
        torch.set_num_threads(count)

    def inter_op(self) -> int:
        """Return the number of threads that torch uses to run operations at the same time."""
        return int(torch.get_num_interop_threads())

    def set_inter_op(self, count: int) -> None:
        """Set the number of threads that torch uses to run operations at the same time.

        torch allows this once, before such operations have run. Raises DeepbenchError afterwards.
        """
        if count == self.inter_op():
            return
        try:
            torch.set_num_interop_threads(count)
        except RuntimeError:
            raise DeepbenchError(
                f"torch already has {self.inter_op()} threads between operations and cannot change"
                " their number: start a new process"
            ) from None

    def versions(self) -> dict[str, str]:
        """Return the versions of torch, numpy, blas, mkl and onednn, the CPU capability and the
        number of threads; on a GPU also cuda or hip, cudnn, driver and the GPU's name; and the
        versions of packages that run networks."""
        build = torch.__config__.show()
        found = {
            "framework": f"torch {torch.__version__}",
            "torch": str(torch.__version__),
            "numpy": np.__version__,
            "blas": _search(r"BLAS_INFO=(\w+)", build),
            "mkl": _search(r"Math Kernel Library Version (\S+)", build),
            "onednn": _search(r"MKL-DNN v?(\S+)", build),
            "cpu_capability": _search(r"CPU capability usage: (\S+)", build),
            "torch_threads": str(torch.get_num_threads()),
        }
        if self.device == "cuda":
            found |= {
                "cuda": str(torch.version.cuda or ""),
                "hip": str(torch.version.hip or ""),
                "cudnn": str(torch.backends.cudnn.version() or ""),
                "driver": _driver(),
                "device": torch.cuda.get_device_name(),
            }
        found |= optional_packages.versions(self.execution)
        return {key: value for key, value in found.items() if value}

    def demand_tf32(self) -> None:
        """Raise Unsupported where the device cannot multiply in tf32."""
        if self.device != "cuda":
            raise Unsupported(f"tf32 exists only on NVIDIA GPUs, not on {self.device}")
        if torch.version.hip or torch.cuda.get_device_capability() < (8, 0):
            raise Unsupported(
                "tf32 exists only on NVIDIA GPUs of compute capability 8.0 and later, not on"
                f" {torch.cuda.get_device_name()}"
            )


def _require_gpu() -> None:
    if not torch.cuda.is_available():
        built = torch.version.cuda or torch.version.hip
        raise Unsupported(
            f"torch {torch.__version__} "
            + ("finds no usable GPU" if built else "is built without CUDA")
        )


def _search(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    return found.group(1).rstrip(",") if found else ""


def _driver() -> str:
    """Return the version of the NVIDIA driver's kernel module, "" without one."""
    try:
        return _search(r"(\d+\.\d+[\d.]*)", DRIVER.read_text())
    except OSError:
        return ""
