"""Levels of several sides over the kernels that they share: machines, or frameworks on one machine.

A side is compared on kernels that the others have as well. Sides with few kernels would leave
nothing that all share, so they are left out of the common set, and compared with the side of the
set that they share most kernels with.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TypeVar

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
    sets = {name: frozenset(own) for name, own in values.items() if len(own) >= FEWEST_KERNELS}
    names = list(sets)

    def shared(some: Sequence[str]) -> frozenset[K]:
        return frozenset.intersection(*(sets[name] for name in some)) if some else frozenset()

    while len(names) > 2 and len(shared(names)) < ENOUGH:
        without = {name: [other for other in names if other != name] for name in names}
        names = without[max(reversed(names), key=lambda name: len(shared(without[name])))]
    return names, shared(names)


def levels(values: SideValues[K]) -> tuple[frozenset[K], dict[str, SharedMean]]:
    """Return the shared kernels, and the level of each side that can be compared with the others.

    A side outside of the common set has the level of the side of the set that it shares most
    kernels with, times the geometric mean of the ratios of both on these kernels.
    """
    names, kernels = common(values)
    if len(kernels) < FEWEST_KERNELS:
        return frozenset(), {}
    ordered = sorted(kernels, key=repr)
    found = {name: SharedMean(_mean(values[name], ordered), len(kernels)) for name in names}
    for name, own in values.items():
        if name not in found and (chained := _chained(own, {n: values[n] for n in names})):
            other, both = chained
            ratio = _mean(own, both) / _mean(values[other], both)
            found[name] = SharedMean(found[other].value * ratio, len(both), other)
    return kernels, found


def _chained(own: Mapping[K, float], others: SideValues[K]) -> tuple[str, list[K]] | None:
    """Return the side that shares most kernels with `own`, and these; None if they are too few."""
    shared = {name: own.keys() & their.keys() for name, their in others.items()}
    best = max(shared, key=lambda name: len(shared[name]))
    return (best, sorted(shared[best], key=repr)) if len(shared[best]) >= FEWEST_KERNELS else None


def _mean(values: Mapping[K, float], kernels: Sequence[K]) -> float:
    return math.exp(fmean(math.log(values[kernel]) for kernel in kernels))
