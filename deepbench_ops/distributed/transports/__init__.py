"""The transports of messages between ranks: a module for each, named after it.

A module declares `TRANSPORT` and imports no library, so that the list needs none installed. A
framework names the transport that its releases use on each device: `TRANSPORTS` of its package.
"""

import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module


@dataclass(frozen=True)
class Declaration:
    """A transport as its module declares it.

    position: place in menus; the first is the default. library: package that it needs. module and
    kind: module and name of its class. launchers: programs whose ranks it can connect.
    wants_mpirun: whether mpirun starts its ranks on one machine too. sums_bfloat16: whether it can
    sum bfloat16, and not only move its bits. may_be_alone: whether a single rank can be timed,
    which measures the launches and copies on one GPU. uses_device: whether its ranks use an
    accelerator; after a process has looked for one, its forks cannot use it. copies and
    copies_in_place: further copies of a vector that the library may need in main memory.
    algorithms: environment variables that force an algorithm, by its name.
    """

    position: int
    library: str
    module: str
    kind: str
    launchers: tuple[str, ...]
    wants_mpirun: bool = False
    sums_bfloat16: bool = True
    may_be_alone: bool = False
    uses_device: bool = False
    copies: int = 0
    copies_in_place: int = 0
    algorithms: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@cache
def found() -> Mapping[str, Declaration]:
    """Return the transports by name, the default first."""
    names = [module.name for module in pkgutil.iter_modules(__path__)]
    declared = {name: import_module(f"{__name__}.{name}").TRANSPORT for name in names}
    return dict(sorted(declared.items(), key=lambda item: item[1].position))
