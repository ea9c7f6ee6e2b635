"""The few functions of NVIDIA's driver that the yardstick of a GPU needs, by ctypes.

The driver is the same for every framework and release, so that none of them can change the
kernels run through it. Nothing is loaded before a `Gpu` is made, and a process that has one must
not fork.
Signatures: CUDA Driver API, https://docs.nvidia.com/cuda/cuda-driver-api.
"""

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from deepbench_ops.errors import DeepbenchError

LIBRARY = "libcuda.so.1"

Pointer = ctypes.c_uint64
"""An address in the memory of the GPU (CUdeviceptr)."""


class Gpu:
    """The first GPU that CUDA_VISIBLE_DEVICES leaves, in the context that frameworks share.

    library: stands for the driver's in tests. Raises DeepbenchError where there is no driver, or
    no GPU.
    """

    def __init__(self, library: Any = None) -> None:
        self._library = _loaded() if library is None else library
        device, self._context = ctypes.c_int(), ctypes.c_void_p()
        self._call("cuInit", ctypes.c_uint(0))
        self._call("cuDeviceGet", ctypes.byref(device), ctypes.c_int(0))
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(self._context), device)
        self.enter()

    def enter(self) -> None:
        """Make its context that of the calling thread, which everything below needs."""
        self._call("cuCtxSetCurrent", self._context)

    def wait(self) -> None:
        """Return once the GPU has done all that was asked of it."""
        self._call("cuCtxSynchronize")

    def memory(self, size: int, value: int = 0) -> Pointer:
        """Return the address of so many bytes of its memory, 32-bit words of one value."""
        address = Pointer()
        self._call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        self._call("cuMemsetD32_v2", address, ctypes.c_uint(value), ctypes.c_size_t(size // 4))
        return address

    def copy(self, target: Pointer, source: Pointer, size: int) -> None:
        """Start a copy of so many bytes within its memory."""
        self._call("cuMemcpyDtoDAsync_v2", target, source, ctypes.c_size_t(size), None)

    def values(self, address: Pointer, count: int) -> np.ndarray:
        """Return so many float32 numbers of its memory."""
        found = np.empty(count, np.float32)
        to = ctypes.c_void_p(found.ctypes.data)
        self._call("cuMemcpyDtoH_v2", to, address, ctypes.c_size_t(found.nbytes))
        return found

    def kernel(
        self, text: str, name: str, blocks: int, threads: int, arguments: Sequence[Any]
    ) -> Callable[[], None]:
        """Return a function that starts a kernel on so many blocks of threads.

        text: the kernel in PTX, which the driver compiles now. arguments: values of ctypes.
        """
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        image = ctypes.c_char_p(text.encode())
        self._call("cuModuleLoadData", ctypes.byref(module), image)
        self._call(
            "cuModuleGetFunction", ctypes.byref(function), module, ctypes.c_char_p(name.encode())
        )
        addresses = [ctypes.addressof(each) for each in arguments]
        pointers = (ctypes.c_void_p * len(addresses))(*addresses)
        shape = [ctypes.c_uint(each) for each in (blocks, 1, 1, threads, 1, 1)]
        no_shared_memory, default_stream = ctypes.c_uint(0), None

        def start() -> None:
            self._call(
                "cuLaunchKernel",
                function,
                *shape,
                no_shared_memory,
                default_stream,
                pointers,
                None,
            )

        start.keep = arguments  # type: ignore[attr-defined] # `pointers` points to them
        return start

    def _call(self, name: str, *arguments: Any) -> None:
        status = getattr(self._library, name)(*arguments)
        if status:
            text = ctypes.c_char_p()
            self._library.cuGetErrorString(ctypes.c_int(status), ctypes.byref(text))
            said = (text.value or b"").decode() or "no description"
            raise DeepbenchError(f"{name} of {LIBRARY} failed with {status}: {said}")


def _loaded() -> ctypes.CDLL:
    try:
        return ctypes.CDLL(LIBRARY)
    except OSError as missing:
        raise DeepbenchError(f"no NVIDIA driver: {missing}") from None
