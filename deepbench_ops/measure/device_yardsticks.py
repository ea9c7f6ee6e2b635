"""Yardsticks of devices that frameworks declare: two fixed workloads each.

A framework's package names, in `DEVICES`, each device that it brings and the module with its
yardstick, "" where there is none. That module holds one `Workloads`, called `WORKLOADS`. It is
imported in the yardstick's own process and wherever the device is measured, so importing it must
start nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from deepbench_ops.errors import PLUGIN_FAULTS, DeepbenchError, one_line

if TYPE_CHECKING:
    from deepbench_ops.backends.framework_list import Device


@dataclass(frozen=True)
class Work:
    """The units of work of one thread: functions that do a unit each, without holding a lock.

    All do the same work, those of a copy in different buffers. ``keep`` holds the buffers,
    which must outlive the pointers in `units`.
    """

    units: tuple[Callable[[], object], ...]
    keep: tuple[Any, ...]


@dataclass(frozen=True)
class Workload:
    """A fixed amount of work: a description with its sizes, and a function that prepares it.

    library: name and version of the software that does it.
    make: takes a seed and returns `Work`; each of its units waits until the device is done.
    bytes: bytes that a unit moves in the device's memory; 0 where bandwidth is not derived from it.
    """

    text: str
    library: str
    make: Callable[[int], Work]
    bytes: float = 0.0


@dataclass(frozen=True)
class Workloads:
    """The yardstick of one device.

    version: raised when a workload changes; readings of different versions are never compared.
    cached_bytes: bytes of operands up to which a kernel is compared with `compute`.
    bound_intensity: FLOPs per byte from which larger kernels are compared with it as well.
    """

    version: str
    compute: Workload
    memory: Workload
    cached_bytes: float
    bound_intensity: float = 1.0

    def named(self, name: str) -> Workload:
        """Return the workload called `compute` or `memory`."""
        return {"compute": self.compute, "memory": self.memory}[name]


def declared(device: str) -> bool:
    """Return whether a framework brings a yardstick of a device; imports no framework."""
    return _declaration(device) is not None


def _declaration(device: str) -> "Device | None":
    """Return the declaration of a device that has a yardstick, None for another one."""
    # Imported here, since the processor's yardstick, a process of its own, does without families.
    from deepbench_ops.backends import framework_list

    found = framework_list.devices().get(device)
    return found if found is not None and found.yardstick else None


@cache
def of(device: str) -> Workloads | None:
    """Return the yardstick that a framework brings for a device; None where it brings none.

    Raises DeepbenchError, naming the distribution, for one that cannot be used.
    """
    found = _declaration(device)
    if found is None:
        return None
    try:
        workloads = import_module(found.yardstick).WORKLOADS
        if not isinstance(workloads, Workloads):
            raise TypeError(f"WORKLOADS of {found.yardstick} is no device_yardsticks.Workloads")
    except PLUGIN_FAULTS as fault:
        raise DeepbenchError(
            f"{found.distribution}: the yardstick of the device {device} cannot be used:"
            f" {one_line(fault)}"
        ) from None
    return workloads
