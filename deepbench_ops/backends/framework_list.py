"""List of the frameworks, found by their folders without an import of any framework.

A framework is a package `<name>_backend`. Its module `backend` has one class derived from
`Backend`, and a module named after each family has the kernels of that family. The package's own
`__init__.py` imports nothing and may only set `POSITION`, `COMPANIONS` and `DEVICES`. Another
distribution registers its frameworks by entry points of the group `deepbench.frameworks`: the name
of the framework, and its package.

`DEVICES` declares the devices that a framework adds. It maps the name of a device to the module
with its yardstick (`measure/device_workloads.py`): a module of the framework's package, or a full
name with dots, or "" for a device without a yardstick. The processor, and devices that another
framework declares, are not listed.
"""

import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec

from deepbench_ops.conditions import DEVICE, VALUE
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.problems import family_list

GROUP = "deepbench.frameworks"
"""Group of the entry points with which other distributions register frameworks."""

SUFFIX = "_backend"
"""End of the name of a framework's package."""

DEFAULT_POSITION = 100
"""Position of a framework that declares none."""

OWN = "deepbench"
"""Name, in messages and records, of this project's own distribution."""


@dataclass(frozen=True)
class Device:
    """A device: its name, the framework and distribution that declare it, and the module of its
    yardstick, "" for none."""

    name: str
    framework: str
    distribution: str
    yardstick: str = ""


@dataclass(frozen=True)
class Framework:
    """A framework.

    package: full name of its package. companions: other packages that it needs. position: place in
    tables. distribution: distribution that it comes with, OWN for this project. devices: those that
    it declares.
    """

    name: str
    package: str
    companions: tuple[str, ...]
    position: int
    distribution: str
    devices: tuple[Device, ...] = ()

    @property
    def own(self) -> bool:
        """Whether the framework comes with this project."""
        return self.distribution == OWN


@cache
def found() -> tuple[Mapping[str, Framework], tuple[str, ...]]:
    """Return the frameworks by name, in the order of tables, and a message for each framework of
    another distribution that cannot be used."""
    here = import_module(__package__)
    known = {}
    for module in pkgutil.iter_modules(here.__path__):
        if module.ispkg and module.name.endswith(SUFFIX):
            name = module.name.removesuffix(SUFFIX)
            known[name] = _framework(name, f"{__package__}.{module.name}", OWN)
    faults = []
    for point in entry_points(group=GROUP):
        origin = point.dist.name if point.dist is not None else point.value
        try:
            known[point.name] = _of_plugin(point, origin, known)
        except Exception as fault:  # another distribution's code may raise anything
            reason = " ".join(str(fault).split()) or type(fault).__name__
            faults.append(
                f"{origin}: its framework {point.name} ({GROUP}) cannot be used: {reason}"
            )
    ordered = sorted(known.values(), key=lambda each: (each.position, each.name))
    return {each.name: each for each in ordered}, tuple(faults)


def with_family(family: str) -> list[str]:
    """Return the frameworks with a module of a family's kernels, the first one where none has."""
    own = family_list.found()[0][family].package
    return [
        name
        for name, framework in found()[0].items()
        if find_spec(f"{framework.package}.{family}") or find_spec(f"{own}.{family}_{name}")
    ] or list(found()[0])[:1]


def _of_plugin(point: EntryPoint, origin: str, known: Mapping[str, Framework]) -> Framework:
    if point.name in known:
        raise DeepbenchError(f"it is already declared by {known[point.name].distribution}")
    framework = _framework(point.name, point.value, origin)
    taken = {device.name: device for each in known.values() for device in each.devices}
    for device in framework.devices:
        if device.name == DEVICE.usual or device.name in taken:
            other = taken.get(device.name)
            by = OWN if other is None else other.distribution
            raise DeepbenchError(f"the device {device.name} is already declared by {by}")
    return framework


def devices() -> Mapping[str, Device]:
    """Return the devices by name: the processor, then those that frameworks declare, in the order
    of the frameworks."""
    usual = Device(DEVICE.usual, "", OWN)
    declared = (device for each in found()[0].values() for device in each.devices)
    return {device.name: device for device in (usual, *declared)}


def _devices(framework: str, package: str, origin: str, declared: object) -> tuple[Device, ...]:
    """Return the devices that a package declares; DeepbenchError for a faulty declaration."""
    if not isinstance(declared, Mapping) or not all(map(VALUE.fullmatch, declared)):
        raise DeepbenchError(
            f'DEVICES is {declared!r}: write a mapping such as {{"toy0": "toy0_yardstick"}}, with'
            " names of lower-case letters, digits and underscores"
        )
    return tuple(
        Device(name, framework, origin, _full_name(package, module))
        for name, module in declared.items()
    )


def _full_name(package: str, module: str) -> str:
    return module if "." in module or not module else f"{package}.{module}"


def _framework(name: str, package: str, origin: str) -> Framework:
    module = import_module(package)
    return Framework(
        name=name,
        package=package,
        companions=tuple(getattr(module, "COMPANIONS", ())),
        position=getattr(module, "POSITION", DEFAULT_POSITION),
        distribution=origin,
        devices=_devices(name, package, origin, getattr(module, "DEVICES", {})),
    )
