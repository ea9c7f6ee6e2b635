"""torch on one device, without the kernels: what it lacks, its threads, memory and versions.

What a release lacks is found out by trying it on a small problem, in the check that precedes
every timing, rather than from a table of releases.
"""

import re
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch

from deepbench_ops.backends.base import Backend, done
from deepbench_ops.backends.free_memory import available
from deepbench_ops.backends.torch_backend import optional_packages
from deepbench_ops.backends.torch_backend.tensors import at
from deepbench_ops.errors import DeepbenchError, Unsupported

DRIVER = Path("/proc/driver/nvidia/version")

# How torch words it when an operation does not exist for a type, a device or a chip; anything
# else it raises is a fault to be seen and not a gap to be skipped.
_LACKING = re.compile(
    r"not (been )?(implemented|supported|compiled)|only supported|could not run|no kernel image"
    r"|could not create a primitive|CUBLAS_STATUS_(NOT_SUPPORTED|ARCH_MISMATCH|INVALID_VALUE)",
    re.IGNORECASE,
)


class TorchDevice(Backend):
    """torch on "cpu" or "cuda" (the current GPU)."""

    name = "torch"
    devices: ClassVar[tuple[str, ...]] = ("cpu", "cuda")

    def __init__(self, device: str = "cpu") -> None:
        self.device = device
        if device == "cuda":
            _demand_cuda()

    def lacks(self, error: Exception) -> bool:
        """Return whether torch says that it has no such operation for a type, device or chip.

        Anything else it raises is a fault to be seen and not a gap to be skipped.
        """
        if isinstance(error, AttributeError):
            return str(error).startswith(("module 'torch", "'torch"))
        if isinstance(error, NotImplementedError):
            return True
        # Scaled and grouped products raise ValueError on a chip that has none.
        return isinstance(error, RuntimeError | ValueError) and bool(_LACKING.search(str(error)))

    def memory_available(self) -> float:
        """Return what the GPU's driver, or else the system, says is free."""
        if self.device == "cuda":
            return float(torch.cuda.mem_get_info()[0])
        return available()

    def tensor(self, values: np.ndarray, dtype: torch.dtype) -> torch.Tensor:
        """Return `values` on the device, converted, with the same strides."""
        return torch.from_numpy(values).to(device=self.device, dtype=dtype)

    @cached_property
    def synchronise(self) -> Callable[[], object]:
        """Function that returns once the device has done everything enqueued on it."""
        return torch.cuda.synchronize if self.device == "cuda" else done

    def read(self, output: torch.Tensor, index: tuple[Any, ...]) -> np.ndarray:
        """Return entries of an output on the host, all of them for the index ()."""
        return at(output, index)

    def threads(self) -> int:
        """Return the number of threads of torch's own pool."""
        return int(torch.get_num_threads())

    def set_threads(self, count: int) -> None:
        """Set the size of torch's own pool, which MKL and oneDNN use as well."""
        torch.set_num_threads(count)

    def inter_op(self) -> int:
        """Return the number of threads that torch has for running operations at once."""
        return int(torch.get_num_interop_threads())

    def set_inter_op(self, count: int) -> None:
        """Set it, which torch allows once, before operations have run at once.

        Raises DeepbenchError afterwards.
        """
        if count == self.inter_op():
            return
        try:
            torch.set_num_interop_threads(count)
        except RuntimeError:
            raise DeepbenchError(
                f"torch has {self.inter_op()} threads between operations already: their number is"
                " set once, in a new process"
            ) from None

    def versions(self) -> dict[str, str]:
        """Return torch, numpy, mkl, onednn, cpu_capability, on CUDA cuda, cudnn, driver, and what
        else runs a network."""
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


def _demand_cuda() -> None:
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
    """Return the NVIDIA driver's version as the kernel module words it, "" elsewhere."""
    try:
        return _search(r"(\d+\.\d+[\d.]*)", DRIVER.read_text())
    except OSError:
        return ""
