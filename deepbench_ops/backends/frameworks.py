"""The frameworks, found by their folders, without importing any.

A framework is a package `<name>_backend` with a module `backend` that holds one class derived from
`Backend`, and a module for each family that it has, named after the family. The package itself
imports nothing: `POSITION` and `COMPANIONS` are all that may stand there. Other distributions name
theirs by entry points of the group `deepbench.frameworks`: the framework's name, and its package.
"""

import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points

from deepbench_ops.errors import DeepbenchError

GROUP = "deepbench.frameworks"
SUFFIX = "_backend"
LAST = 100
"""Position of a framework that declares none."""


@dataclass(frozen=True)
class Framework:
    """A framework: its package, other required packages, its place in tables, its origin."""

    name: str
    package: str
    companions: tuple[str, ...]
    position: int
    distribution: str


@cache
def found() -> tuple[Mapping[str, Framework], tuple[str, ...]]:
    """Return the frameworks by name, in their order, and a line for each that cannot be used."""
    here = import_module(__package__)
    known = {}
    for module in pkgutil.iter_modules(here.__path__):
        if module.ispkg and module.name.endswith(SUFFIX):
            name = module.name.removesuffix(SUFFIX)
            known[name] = _framework(name, f"{__package__}.{module.name}", "deepbench")
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


def _of_plugin(point: EntryPoint, origin: str, known: Mapping[str, Framework]) -> Framework:
    if point.name in known:
        raise DeepbenchError(f"it is already declared by {known[point.name].distribution}")
    return _framework(point.name, point.value, origin)


def _framework(name: str, package: str, origin: str) -> Framework:
    module = import_module(package)
    return Framework(
        name=name,
        package=package,
        companions=tuple(getattr(module, "COMPANIONS", ())),
        position=getattr(module, "POSITION", LAST),
        distribution=origin,
    )
