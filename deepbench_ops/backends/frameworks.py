"""The frameworks, found by their folders, without importing any.

A framework is a package `<name>_backend` with a module `backend` that holds one class derived from
`Backend`, and a module for each family that it has, named after the family. The package itself
imports nothing: `POSITION`, `COMPANIONS` and `DEVICES` are all that may stand there. Other
distributions name theirs by entry points of the group `deepbench.frameworks`: the framework's name,
and its package.

`DEVICES` declares the devices that a framework brings: for each name the module with the device's
yardstick (`measure/device_workloads.py`), "" where it has none: of its own package, or by a full
name with dots. The processor is
always there; a framework that runs on a device of another one need not declare it.
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
from deepbench_ops.problems import families

GROUP = "deepbench.frameworks"
SUFFIX = "_backend"
LAST = 100
"""Position of a framework that declares none."""

OWN = "deepbench"
"""Stands for the distribution of this project."""


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
    """A framework: its package, other required packages, its place in tables, its origin."""

    name: str
    package: str
    companions: tuple[str, ...]
    position: int
    distribution: str
    devices: tuple[Device, ...] = ()

    @property
    def own(self) -> bool:
        """Whether it comes with this project."""
        return self.distribution == OWN


@cache
def found() -> tuple[Mapping[str, Framework], tuple[str, ...]]:
    """Return the frameworks by name, in their order, and a line for each that cannot be used."""
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


def first_with(family: str) -> str:
    """Return the first framework with a module of a family's kernels; the first one without any."""
    own = families.found()[0][family].package
    for name, framework in found()[0].items():
        if find_spec(f"{framework.package}.{family}") or find_spec(f"{own}.{family}_{name}"):
            return name
    return next(iter(found()[0]))


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
    """Return the devices by name: the processor, and those that frameworks declare, in the order of
    the frameworks."""
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
        position=getattr(module, "POSITION", LAST),
        distribution=origin,
        devices=_devices(name, package, origin, getattr(module, "DEVICES", {})),
    )
