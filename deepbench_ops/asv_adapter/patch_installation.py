"""One replacement of an attribute of asv, and how several of them are put in force."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

PLAIN_VARIABLE = "DEEPBENCH_PLAIN_ASV"
"""Set to 1, it leaves out the replacements that only save time."""

PROCESS, PUBLISH = "process", "publish"
"""Scopes: as long as asv's process lives, or only while `asv publish` makes pages."""

Function = Callable[..., Any]
"""A function of asv, or one that replaces it."""


@dataclass(frozen=True)
class Patch:
    """A row of the table of patches.

    owner, attribute: the class or module of asv, and the name in it.
    replacement: returns the new function, given the one that is replaced.
    why: the fault, or the long wait, without it.
    needed: whether results or pages would differ without it; False for a mere speed-up.
    scope: `PROCESS` or `PUBLISH`.
    """

    owner: Any
    attribute: str
    replacement: Callable[[Function], Function]
    why: str
    needed: bool = True
    scope: str = PROCESS

    @property
    def place(self) -> str:
        """Name of the replaced attribute, such as asv.results.Results.save."""
        module = getattr(self.owner, "__module__", None)
        owner = f"{module}.{self.owner.__qualname__}" if module else self.owner.__name__
        return f"{owner}.{self.attribute}"

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Put the replacement in force for the block; a class or static method stays one."""
        before = vars(self.owner)[self.attribute]
        kind = type(before) if isinstance(before, classmethod | staticmethod) else None
        new = self.replacement(before.__func__ if kind else before)
        setattr(self.owner, self.attribute, kind(new) if kind else new)
        try:
            yield
        finally:
            setattr(self.owner, self.attribute, before)


def instead(function: Function) -> Callable[[Function], Function]:
    """Return a factory whose replacement does not use the original."""
    return lambda original: function


def wanted(rows: Iterable[Patch]) -> list[Patch]:
    """Return the rows to put in force: without speed-ups where `PLAIN_VARIABLE` is 1."""
    plain = os.environ.get(PLAIN_VARIABLE) == "1"
    return [row for row in rows if row.needed or not plain]


_in_force: list[Patch] = []


@contextmanager
def applied(rows: Iterable[Patch]) -> Iterator[None]:
    """Put rows in force for the block, the later ones around the earlier; each only once."""
    new = [row for row in wanted(rows) if row not in _in_force]
    with ExitStack() as stack:
        for row in new:
            stack.enter_context(row.applied())
            _in_force.append(row)
            stack.callback(_in_force.remove, row)
        yield


_installed = ExitStack()
"""Holds the patches of `install` until the process ends."""


def install(rows: Iterable[Patch]) -> None:
    """Put rows in force for good; a second call changes nothing."""
    _installed.enter_context(applied(rows))
