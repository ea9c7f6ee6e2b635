"""Causes: changes of many kernels between the same two releases as one.

If a release makes all products of a precision slower, dozens of kernels change for one reason.
They are reported as one cause. Its scope is one of these: most kernels of a framework (then the
reason may also be the machine, its driver or its clock on that day), most or several of a family at
a precision, or a single kernel.
"""

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property
from typing import Literal

from deepbench_ops.analysis.kernel_lines import Line, Shift
from deepbench_ops.analysis.points import Point
from deepbench_ops.analysis.pooled_sets import same_kernel
from deepbench_ops.analysis.shared_rounds import SEPARATE_PROCESSES, Pooled, pooled
from deepbench_ops.releases.release_table import Release

MOST = 0.5
"""From this share of its watched kernels on, a family or a framework has changed as one."""

FEW = 3
"""Fewer kernels than these are listed one by one."""

RECENT = timedelta(days=365)
"""Time before the newest change within which changes are the latest ones.

In a year every framework of the release table has published a minor release; TensorFlow takes up to
seven months. In a shorter time only frameworks would be seen that publish often.
"""

Scope = Literal["framework", "family", "several", "kernel"]


@dataclass(frozen=True)
class Cause:
    """Shifts between the same two releases, in the same direction, on one device of a machine.

    scope: how far they reach; watched: how many kernels of that scope could have shown it.
    elsewhere: other machines on which at least half of these kernels changed in the same way.
    """

    machine: str
    before: Release
    after: Release
    slower: bool
    scope: Scope
    shifts: tuple[Shift, ...]
    watched: int
    elsewhere: tuple[str, ...] = ()

    @property
    def ratio(self) -> float:
        """The geometric mean of after / before."""
        return math.exp(sum(math.log(s.change.ratio) for s in self.shifts) / len(self.shifts))

    @cached_property
    def pooled(self) -> Pooled | None:
        """The verdict on its kernels as one; None of a single kernel, or without shared rounds."""
        steps = [shift.shared for shift in self.shifts if shift.shared is not None]
        if len(steps) < max(2, len(self.shifts)):
            return None
        found = pooled(steps)
        return found if found.verdict.rounds else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval of 99 % of its ratio; None of several kernels without shared rounds, or if
        `pooled` leaves some out."""
        if len(self.shifts) == 1:
            return self.shifts[0].change.low, self.shifts[0].change.high
        if self.pooled is None or self.pooled.kernels < len(self.shifts):
            return None
        return self.pooled.verdict.low, self.pooled.verdict.high

    @property
    def origin(self) -> str:
        """Way it was found: in shared rounds, or among processes that were measured apart."""
        steps = [shift.shared for shift in self.shifts if shift.shared is not None]
        if len(self.shifts) == 1 or not steps:
            return self.shifts[0].origin
        counts = sorted(step.verdict.rounds for step in steps)
        several = "" if counts[0] == counts[-1] else f"{counts[0]} to "
        text = f"{several}{counts[-1]} shared rounds"
        states = sorted({step.state for step in steps if step.state})
        text += f", {' and '.join(states)}" if states else ""
        alone = len(self.shifts) - len(steps)
        return f"{text}; {alone} of {SEPARATE_PROCESSES}" if alone else text

    @property
    def noise(self) -> float:
        """The median noise of its lines."""
        return statistics.median(shift.noise for shift in self.shifts)

    @property
    def kind(self) -> str:
        """Verdict on it: "slower" or "faster"."""
        return "slower" if self.slower else "faster"

    @property
    def name(self) -> str:
        """The change in words."""
        first = self.shifts[0].after
        if self.scope == "kernel":
            return first.description
        if self.scope == "framework":
            scope = f"most kernels of {first.release.framework}"
        else:
            scope = f"{first.family}, {first.precision}"
        return ", ".join(filter(None, [scope, first.other_device]))


def causes(lines: Sequence[Line], each: bool = False) -> list[Cause]:
    """Return the changes on the machines of these lines, newest first, the widest scope first.

    Lines that are too short to judge are left out, and are not counted as watched. `each` makes
    every kernel a cause of its own.
    """
    judged = [line for line in lines if line.judgeable]
    watched = _watched(judged)
    together: dict[tuple[str, str, str, str, bool], list[Shift]] = defaultdict(list)
    for line in judged:
        for shift in line.changes:
            after = shift.after
            pair = shift.before.release.hash, after.release.hash
            together[after.machine, after.device, *pair, shift.slower].append(shift)
    found = [cause for shifts in together.values() for cause in _split(shifts, watched, each)]
    return sorted(_with_elsewhere(found), key=_order)


def latest(causes: Iterable[Cause]) -> list[Cause]:
    """Return the causes of the year before the newest one, the largest first.

    A change of the same kernel in several sets is there once.
    """
    found = list(causes)
    newest = max((cause.after.date for cause in found), default=None)
    recent = [cause for cause in found if newest and newest - cause.after.date <= RECENT]
    largest: dict[Hashable, Cause] = {}
    for cause in sorted(recent, key=lambda cause: -abs(math.log(cause.ratio))):
        largest.setdefault(_in_any_set(cause), cause)
    return list(largest.values())


def _in_any_set(cause: Cause) -> Hashable:
    """Return a key that changes of one kernel in several sets share."""
    kernels = frozenset(same_kernel(shift.after) for shift in cause.shifts)
    device = cause.shifts[0].after.device
    return cause.machine, cause.before.hash, cause.after.hash, cause.slower, device, kernels


KernelCounts = dict[tuple[object, ...], int]


def _watched(lines: Iterable[Line]) -> KernelCounts:
    """Count the kernels that have a time on each release, by framework and by family."""
    counted: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for line in lines:
        later = [point.release.hash for point in line.steady[1:]]
        first = line.points[0]
        place = first.machine, first.device
        for scope in (place, (*place, first.family, first.precision)):
            counted[scope].update(later)
    return {
        (machine, device, commit, *scope): count
        for (machine, device, *scope), commits in counted.items()
        for commit, count in commits.items()
    }


def _framework(point: Point) -> tuple[object, ...]:
    return point.machine, point.device, point.release.hash


def _family(point: Point) -> tuple[object, ...]:
    return *_framework(point), point.family, point.precision


def _split(shifts: list[Shift], watched: KernelCounts, each: bool) -> list[Cause]:
    """Return the causes of shifts between two releases in one direction."""
    if each:
        return [_cause("kernel", [shift], 1) for shift in shifts]
    whole = watched[_framework(shifts[0].after)]
    if _is_most(len(shifts), whole):
        return [_cause("framework", shifts, whole)]
    families: dict[tuple[object, ...], list[Shift]] = defaultdict(list)
    for shift in shifts:
        families[_family(shift.after)].append(shift)
    found = []
    for key, members in families.items():
        if _is_most(len(members), watched[key]):
            found.append(_cause("family", members, watched[key]))
        elif len(members) >= FEW:
            found.append(_cause("several", members, watched[key]))
        else:
            found += [_cause("kernel", [shift], 1) for shift in members]
    return found


def _is_most(number: int, whole: int) -> bool:
    return number >= FEW and number >= MOST * whole


def _cause(scope: Scope, shifts: Sequence[Shift], watched: int) -> Cause:
    """Return one cause, its kernels in the order of `_size`."""
    first = shifts[0]
    return Cause(
        first.after.machine,
        first.before.release,
        first.after.release,
        first.slower,
        scope,
        tuple(sorted(shifts, key=_size)),
        watched,
    )


def _size(shift: Shift) -> tuple[object, ...]:
    """Return a key that puts the largest changes first, in one order wherever they are read."""
    return -abs(math.log(shift.change.ratio)), *map(str, shift.after.kernel)


def _with_elsewhere(found: Sequence[Cause]) -> list[Cause]:
    machines: dict[tuple[object, ...], set[str]] = defaultdict(set)
    for cause in found:
        for shift in cause.shifts:
            machines[_anywhere(shift)].add(cause.machine)

    def others(cause: Cause) -> tuple[str, ...]:
        seen = Counter(name for shift in cause.shifts for name in machines[_anywhere(shift)])
        enough = MOST * len(cause.shifts)
        return tuple(sorted(n for n in seen if n != cause.machine and seen[n] >= enough))

    return [replace(cause, elsewhere=others(cause)) for cause in found]


def _anywhere(shift: Shift) -> tuple[object, ...]:
    """Return the fields in which a shift must agree with one on another machine."""
    before, after = shift.before.release.hash, shift.after.release.hash
    return before, after, shift.slower, shift.after.device, shift.after.kernel


def _order(cause: Cause) -> tuple[object, ...]:
    reach = ("framework", "family", "several", "kernel").index(cause.scope)
    day = -cause.after.date.toordinal()
    return day, cause.machine, reach, not cause.slower, -abs(math.log(cause.ratio)), cause.name
