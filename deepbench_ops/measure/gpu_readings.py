"""Clocks, power and temperature of an NVIDIA GPU, from its driver's management library (NVML).

By ctypes: measured environments hold no binding, and the names below are in every driver. Where
there is no such library, or it cannot tell something, that is left out.
Signatures: NVML API reference, https://docs.nvidia.com/deploy/nvml-api.
"""

import ctypes
import os
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from deepbench_ops.errors import DeepbenchError

LIBRARY = "libnvidia-ml.so.1"
CUDA = "cuda"

SM_CLOCK, MEMORY_CLOCK = 1, 2
"""nvmlClockType_t."""
ON_DIE = 0
"""nvmlTemperatureSensors_t."""

LIMITS = {
    0x4: "power limit",
    0x8: "hardware slowdown",
    0x20: "heat (software)",
    0x40: "heat (hardware)",
    0x80: "power brake",
}
"""Reasons for which a clock is below its highest, by bit of nvmlClocksEventReasons. Idling and
settings of the owner are none of these."""

Readings = dict[str, float]


class GpuReadings:
    """The readings of one GPU.

    library: stands for the driver's in tests. Raises DeepbenchError where there is none.
    """

    def __init__(self, library: Any = None, environ: Mapping[str, str] = os.environ) -> None:
        self._library = _loaded() if library is None else library
        self._gpu = ctypes.c_void_p()
        handle = ctypes.byref(self._gpu)
        name = environ.get("CUDA_VISIBLE_DEVICES", "").partition(",")[0].strip()
        found = (
            self._library.nvmlInit_v2() == 0
            and (
                self._library.nvmlDeviceGetHandleByUUID(ctypes.c_char_p(name.encode()), handle)
                if name.startswith("GPU-")
                else self._library.nvmlDeviceGetHandleByIndex_v2(
                    ctypes.c_uint(int(name) if name.isdigit() else 0), handle
                )
            )
            == 0
        )
        if not found:
            raise DeepbenchError(f"{LIBRARY} knows no GPU {name or '0'}")

    def now(self) -> Readings:
        """Return clocks in MHz, power in W, temperature in °C, and the bits of `LIMITS` that hold.

        They are those of the moment; drivers average the power over some 25 ms to 1 s.
        """
        found = {
            "sm_mhz": self._number("nvmlDeviceGetClockInfo", SM_CLOCK),
            "memory_mhz": self._number("nvmlDeviceGetClockInfo", MEMORY_CLOCK),
            "watts": self._number("nvmlDeviceGetPowerUsage", scale=1e-3),
            "celsius": self._number("nvmlDeviceGetTemperature", ON_DIE),
            "limits": self._limits(),
        }
        return {name: value for name, value in found.items() if value is not None}

    def facts(self) -> dict[str, str]:
        """Return the facts of a whole run, as text: driver, highest clocks and power limit."""
        found = {
            "driver": self._text("nvmlSystemGetDriverVersion"),
            "driver_cuda": self._cuda(),
            "gpu_sm_mhz_highest": self._number("nvmlDeviceGetMaxClockInfo", SM_CLOCK),
            "gpu_memory_mhz_highest": self._number("nvmlDeviceGetMaxClockInfo", MEMORY_CLOCK),
            "gpu_power_limit_watts": self._number("nvmlDeviceGetEnforcedPowerLimit", scale=1e-3),
        }
        return {
            name: value if isinstance(value, str) else f"{value:g}"
            for name, value in found.items()
            if value
        }

    def _number(self, name: str, *kind: int, scale: float = 1) -> float | None:
        value = ctypes.c_uint()
        kinds = [ctypes.c_uint(each) for each in kind]
        failed = getattr(self._library, name)(self._gpu, *kinds, ctypes.byref(value))
        return None if failed else round(value.value * scale, 3)

    def _limits(self) -> float | None:
        bits = ctypes.c_ulonglong()
        ask = self._library.nvmlDeviceGetCurrentClocksThrottleReasons
        if ask(self._gpu, ctypes.byref(bits)):
            return None
        return float(bits.value & sum(LIMITS))

    def _text(self, name: str) -> str:
        text = ctypes.create_string_buffer(96)
        failed = getattr(self._library, name)(text, ctypes.c_uint(len(text)))
        return "" if failed else text.value.decode()

    def _cuda(self) -> str:
        number = ctypes.c_int()
        if self._library.nvmlSystemGetCudaDriverVersion_v2(ctypes.byref(number)):
            return ""
        return f"{number.value // 1000}.{number.value % 1000 // 10}"


@cache
def of(device: str) -> GpuReadings | None:
    """Return the readings of a device in this process; None where there are none."""
    if device != CUDA:
        return None
    try:
        return GpuReadings()
    except DeepbenchError:
        return None


def reader(device: str) -> Callable[[], Readings] | None:
    """Return a function that reads a device now; None where nothing can be read."""
    gpu = of(device)
    return None if gpu is None else gpu.now


def facts(device: str) -> dict[str, str]:
    """Return the facts of a device that hold for a whole run, {} where they are not known."""
    gpu = of(device)
    return {} if gpu is None else gpu.facts()


def limited(readings: list[Readings]) -> list[str]:
    """Return the names of the `LIMITS` that held in any of the readings."""
    bits = {int(each.get("limits", 0)) for each in readings}
    return [name for bit, name in LIMITS.items() if any(bit & each for each in bits)]


def _loaded() -> ctypes.CDLL:
    try:
        return ctypes.CDLL(LIBRARY)
    except OSError as missing:
        raise DeepbenchError(f"no NVIDIA driver: {missing}") from None
