"""Levels of several sides over the kernels that they share: machines, or frameworks on one machine.

A side is compared on kernels that the others have as well. Sides with few kernels would leave
nothing that all share, so they are left out of the common set, and compared with the side of the
set that they share most kernels with.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from statistics import fmean
from typing import Generic, TypeVar

import numpy as np

FEWEST_KERNELS = 3
"""Shared kernels below which two sides are not compared."""

ENOUGH = 5
"""Kernels that all sides should share; sides are left out of the common set until they do."""

K = TypeVar("K", bound=Hashable)
SideValues = Mapping[str, Mapping[K, float]]
"""Positive values of each side by kernel, such as seconds or FLOP/s."""


@dataclass(frozen=True)
class SharedMean:
    """The geometric mean of a side's values over the shared kernels.

    kernels: how many it rests on. through: the side that it is compared with where it has not all
    shared kernels itself, "" for a side that has.
    """

    value: float
    kernels: int
    through: str = ""


def common(values: SideValues[K]) -> tuple[list[str], frozenset[K]]:
    """Return the sides of the common set and the kernels that all of them have.

    One by one the side goes whose kernels leave the most to the others, until there are `ENOUGH`
    or two sides are left. Of equal ones the last goes.
    """
    return _Kernels(values).common()


def levels(values: SideValues[K]) -> tuple[frozenset[K], dict[str, SharedMean]]:
    """Return the shared kernels, and the level of each side that can be compared with the others.

    A side outside of the common set has the level of the side of the set that it shares most
    kernels with, times the geometric mean of the ratios of both on these kernels.
    """
    table = _Kernels(values)
    names, kernels = table.common()
    if len(kernels) < FEWEST_KERNELS:
        return frozenset(), {}
    ordered = sorted(kernels, key=repr)
    found = {name: SharedMean(_mean(values[name], ordered), len(kernels)) for name in names}
    for name in table.names:
        if name not in found:
            other, both = table.nearest(name, names)
            if len(both) >= FEWEST_KERNELS:
                ratio = _mean(values[name], both) / _mean(values[other], both)
                found[name] = SharedMean(found[other].value * ratio, len(both), other)
    return kernels, found


class _Kernels(Generic[K]):
    """The kernels of the sides that have `FEWEST_KERNELS` or more.

    names: the sides. kernels: those of all of them. has: sides x kernels booleans.
    """

    def __init__(self, values: SideValues[K]) -> None:
        sides = {name: own for name, own in values.items() if len(own) >= FEWEST_KERNELS}
        self.names = list(sides)
        self.kernels = list(dict.fromkeys(chain.from_iterable(sides.values())))
        places = {kernel: place for place, kernel in enumerate(self.kernels)}
        self.has = np.zeros((len(sides), len(places)), bool)
        for row, own in zip(self.has, sides.values(), strict=True):
            row[[places[kernel] for kernel in own]] = True

    def common(self) -> tuple[list[str], frozenset[K]]:
        """Return the result of the function `common`."""
        rows = np.arange(len(self.names))
        counts = self.has.sum(0)  # sides that have each kernel
        while len(rows) > 2 and (counts == len(rows)).sum() < ENOUGH:
            only_one_lacks = np.flatnonzero(counts == len(rows) - 1)
            gained_without = (~self.has[np.ix_(rows, only_one_lacks)]).sum(1)
            goes = len(rows) - 1 - int(np.argmax(gained_without[::-1]))
            counts -= self.has[rows[goes]]
            rows = np.delete(rows, goes)
        names = [self.names[row] for row in rows]
        return names, frozenset(self._at(counts == len(rows)))

    def nearest(self, name: str, others: Sequence[str]) -> tuple[str, list[K]]:
        """Return which of the others shares most kernels with a side, the first of equal ones, and
        these kernels in the order of their text."""
        own = self.has[self.names.index(name)]
        shared = self.has[[self.names.index(other) for other in others]] & own
        best = int(np.argmax(shared.sum(1)))
        return others[best], sorted(self._at(shared[best]), key=repr)

    def _at(self, wanted: np.ndarray) -> list[K]:
        return [self.kernels[place] for place in np.flatnonzero(wanted)]


def _mean(values: Mapping[K, float], kernels: Sequence[K]) -> float:
    return math.exp(fmean(math.log(values[kernel]) for kernel in kernels))
