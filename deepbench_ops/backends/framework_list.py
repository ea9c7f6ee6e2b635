"""List of the frameworks, found by their folders without an import of any framework.

A framework is a package `<name>_backend`. Its module `backend` has one class derived from
`Backend`, and a module named after each family has the kernels of that family. The package's own
`__init__.py` imports nothing and may only set `POSITION`, `COMPANIONS`, `DEVICES`, `TRANSPORTS`,
the transport of messages between processes on each device (`distributed/transports`),
`VARIABLES`, the prefixes of the environment variables that steer the framework
(`measure/library_variables.py`), and `RUNS_ON` and `PRECISIONS`, all devices and precisions of its
kernels: others are refused before the framework is installed. Another distribution registers its
frameworks by entry points of the group `deepbench.frameworks`: the name of the framework, and its
package.

`DEVICES` declares the devices that a framework adds. It maps the name of a device to the module
with its yardstick (`measure/device_yardsticks.py`): a module of the framework's package, or a full
name with dots, or "" for a device without a yardstick. The processor, and devices that another
framework declares, are not listed.
"""

import pkgutil
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path

from deepbench_ops.errors import PLUGIN_FAULTS, DeepbenchError, one_line
from deepbench_ops.problems import family_list
from deepbench_ops.run_conditions import DEVICE, VALUE

GROUP = "deepbench.frameworks"
"""Group of the entry points with which other distributions register frameworks."""

SUFFIX = "_backend"
"""End of the name of a framework's package."""

DEFAULT_POSITION = 100
"""Position of a framework that declares none."""

OWN = "deepbench"
"""Name, in messages and records, of this project's own distribution."""

TRANSPORTS_FOLDER = Path(__file__).parents[1] / "distributed" / "transports"
"""Folder with a module for each transport. It is not imported here: it comes later in the order of
imports."""

PREFIX = re.compile("[A-Z][A-Z0-9_]*_")
"""Prefix of a framework's environment variables."""


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
    it declares. transports: the transport of messages between processes by device. variables:
    prefixes of the environment variables that steer it. runs_on, precisions: all devices and
    precisions of its kernels, empty where the package does not declare them.
    """

    name: str
    package: str
    companions: tuple[str, ...]
    position: int
    distribution: str
    devices: tuple[Device, ...] = ()
    transports: Mapping[str, str] = field(default_factory=dict)
    variables: tuple[str, ...] = ()
    runs_on: tuple[str, ...] = ()
    precisions: tuple[str, ...] = ()

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
    points = {}
    for point in entry_points(group=GROUP):
        try:
            known[point.name] = _of_plugin(point, known)
            points[point.name] = point
        except PLUGIN_FAULTS as fault:
            faults.append(_fault(point, fault))
    # after the last one, whose devices others may name
    for name, framework in list(known.items()):
        try:
            _demand_devices(framework, _declared_devices(known))
        except DeepbenchError as fault:
            if framework.own:
                raise
            faults.append(_fault(points[name], fault))
            del known[name]
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


def is_installed(framework: Framework) -> bool:
    """Return whether the packages of a framework are there; True for one of a plugin, whose
    packages are not known."""
    needed = (framework.name, *framework.companions)
    return not framework.own or all(find_spec(name) is not None for name in needed)


def _of_plugin(point: EntryPoint, known: Mapping[str, Framework]) -> Framework:
    if point.name in known:
        raise DeepbenchError(f"it is already declared by {known[point.name].distribution}")
    framework = _framework(point.name, point.value, _distribution(point))
    taken = _declared_devices(known)
    for device in framework.devices:
        if device.name in taken:
            by = taken[device.name].distribution
            raise DeepbenchError(f"the device {device.name} is already declared by {by}")
    return framework


def _distribution(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else point.value


def _fault(point: EntryPoint, fault: BaseException) -> str:
    """Return the message about a framework of another distribution that cannot be used."""
    return (
        f"{_distribution(point)}: its framework {point.name} ({GROUP}) cannot be used:"
        f" {one_line(fault)}"
    )


def _demand_devices(framework: Framework, known: Mapping[str, Device]) -> None:
    """Raise DeepbenchError for a transport on a device that no framework declares."""
    unknown = [device for device in framework.transports if device not in known]
    if unknown:
        raise DeepbenchError(
            f"TRANSPORTS names the device {unknown[0]!r}: choose among {', '.join(known)}"
        )


def devices() -> Mapping[str, Device]:
    """Return the devices by name: the processor, then those that frameworks declare, in the order
    of the frameworks."""
    return _declared_devices(found()[0])


def _declared_devices(known: Mapping[str, Framework]) -> Mapping[str, Device]:
    usual = Device(DEVICE.usual, "", OWN)
    declared = (device for each in known.values() for device in each.devices)
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
    if not hasattr(module, "__path__"):
        raise DeepbenchError(f"{package} is one module: make it a package, with a module backend")
    position = getattr(module, "POSITION", DEFAULT_POSITION)
    variables = getattr(module, "VARIABLES", ())
    for constant in ("COMPANIONS", "RUNS_ON", "PRECISIONS"):
        if not _is_names(declared := getattr(module, constant, ())):
            raise DeepbenchError(f"{constant} is {declared!r}, no tuple of names")
    if not isinstance(position, int):
        raise DeepbenchError(f"POSITION is {position!r}, no whole number")
    if not _is_names(variables) or not all(map(PREFIX.fullmatch, variables)):
        raise DeepbenchError(
            f'VARIABLES is {variables!r}: write a tuple such as ("TOY_",), of prefixes that end'
            " with an underscore"
        )
    return Framework(
        name=name,
        package=package,
        companions=getattr(module, "COMPANIONS", ()),
        position=position,
        distribution=origin,
        devices=_devices(name, package, origin, getattr(module, "DEVICES", {})),
        transports=_transports(getattr(module, "TRANSPORTS", {})),
        variables=variables,
        runs_on=getattr(module, "RUNS_ON", ()),
        precisions=getattr(module, "PRECISIONS", ()),
    )


def _is_names(value: object) -> bool:
    return isinstance(value, tuple) and all(isinstance(one, str) for one in value)


@cache
def _known_transports() -> tuple[str, ...]:
    return tuple(sorted(module.name for module in pkgutil.iter_modules([str(TRANSPORTS_FOLDER)])))


def _transports(declared: object) -> Mapping[str, str]:
    """Return the transports that a package declares; DeepbenchError for a faulty declaration."""
    known = _known_transports()
    if not isinstance(declared, Mapping):
        raise DeepbenchError(
            f'TRANSPORTS is {declared!r}: write a mapping such as {{"cpu": "{known[0]}"}}'
        )
    unknown = [name for name in declared.values() if name not in known]
    if unknown:
        raise DeepbenchError(f"TRANSPORTS names {unknown[0]!r}: choose among {', '.join(known)}")
    return declared
