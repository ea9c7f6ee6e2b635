"""Backends: one package for each framework, all with the same small interface.

A framework is imported only when its backend is loaded. A process that measures one framework is
therefore not slowed down by the threads of another, and the list of backends can be read where no
framework is installed.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from deepbench_ops.backends import framework_list
from deepbench_ops.errors import PLUGIN_FAULTS, DeepbenchError, Unsupported, one_line

if TYPE_CHECKING:
    from deepbench_ops.backends.backend_interface import Backend

NAMES = tuple(framework_list.found()[0])
"""Names of all frameworks, in the order of tables."""

DEVICES = tuple(framework_list.devices())
"""Names of all devices, the processor first."""


def load(name: str, device: str = "cpu") -> "Backend":
    """Return the backend called `name` (one of NAMES) on `device` (one of DEVICES).

    Raises DeepbenchError for an unknown name or device or a framework that is not installed,
    Unsupported (with the reason) where the framework cannot use that device here.
    """
    if device not in DEVICES:
        raise DeepbenchError(f"unknown device {device!r}: choose one of {', '.join(DEVICES)}")
    kind = preload(name)
    if device not in kind.devices:
        raise Unsupported(f"{name} runs on the {_listed(kind.devices)} only, not on {device}")
    return kind(device)


def preload(name: str) -> "type[Backend]":
    """Import the framework called `name` and its kernels, and return its class.

    Runs no operation and makes no device context: the process may fork its workers afterwards.
    Raises DeepbenchError as `load` does, and for a fault in the code of another distribution, with
    the name of that distribution.
    """
    known = framework_list.found()[0]
    if name not in known:
        raise DeepbenchError(f"unknown framework {name!r}: choose one of {', '.join(NAMES)}")
    framework = known[name]
    try:
        module = import_module(f"{framework.package}.backend")
        kind = _class_of(module)
        kind.import_families()
    except PLUGIN_FAULTS as fault:
        needed = (name, *framework.companions)
        if isinstance(fault, ModuleNotFoundError) and fault.name in needed:
            raise DeepbenchError(
                f"{fault.name} is not installed in this environment: install it with 'pip install"
                f" {fault.name}'"
            ) from None
        if framework.own:
            raise
        raise DeepbenchError(
            f"{framework.distribution}: its framework {name} cannot be imported: {one_line(fault)}"
        ) from None
    return kind


def _listed(devices: tuple[str, ...]) -> str:
    return " and the ".join(devices)


def _class_of(module: object) -> "type[Backend]":
    """Return the one class derived from Backend that a module defines."""
    from deepbench_ops.backends.backend_interface import Backend

    defined = [
        each
        for each in vars(module).values()
        if isinstance(each, type)
        and issubclass(each, Backend)
        and each.__module__ == module.__name__  # type: ignore[attr-defined]
    ]
    if len(defined) != 1:
        raise DeepbenchError(f"{module.__name__} must define one class derived from Backend")  # type: ignore[attr-defined]
    return defined[0]
