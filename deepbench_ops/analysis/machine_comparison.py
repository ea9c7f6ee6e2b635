"""Comparison of machines, or of releases on one: ratios of times over the same kernels."""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
from scipy.special import stdtrit

from deepbench_ops.analysis.points import KernelKey, Point
from deepbench_ops.analysis.pooled_sets import pooled_times
from deepbench_ops.analysis.roofline import peak
from deepbench_ops.analysis.settings_and_state_agreement import agree, notes
from deepbench_ops.errors import DeepbenchError, NoAnswer
from deepbench_ops.machine.machine_profile import Profile
from deepbench_ops.problems.suggestions import unknown

RATIO_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Contender:
    """One column of a comparison: its name, and its steady times of each kernel, newest first.

    left: its unsteady times, which are left out.
    """

    name: str
    times: Mapping[KernelKey, tuple[Point, ...]]
    profile: Profile | None = None
    left: tuple[Point, ...] = ()

    @property
    def points(self) -> dict[KernelKey, Point]:
        """The newest time of each kernel."""
        return {kernel: found[0] for kernel, found in self.times.items()}

    def of_peak(self, point: Point) -> float | None:
        """The share of the machine's peak at that precision, None where no peak is known."""
        figure = peak(self.profile, point)
        return point.rate / figure.value if figure and figure.value and point.flops else None


@dataclass(frozen=True)
class FamilyComparison:
    """Comparison over a family's kernels of one precision that both machines have.

    ratio: geometric mean of other / first, in seconds: below 1 the other is faster. low, high: its
    interval, the kernels being the sample (NaN for a single one). shared: kernels that both
    have, of `first_has` and `other_has`. first_of_peak, other_of_peak: geometric mean of the
    shares of peak, None where no peak is known.
    """

    family: str
    precision: str
    ratio: float
    low: float
    high: float
    shared: int
    first_has: int
    other_has: int
    first_of_peak: float | None
    other_of_peak: float | None


@dataclass(frozen=True)
class KernelComparison:
    """A kernel that both have, and the ratio of the other's seconds to the first's."""

    first: Point
    other: Point

    @property
    def ratio(self) -> float:
        """Seconds of the other over those of the first: below 1 the other is faster."""
        return self.other.seconds / self.first.seconds


def contender(
    spec: str, points: Sequence[Point], profile: Profile | None = None, device: str | None = None
) -> Contender:
    """Return the steady times under the usual conditions that a text such as m@torch names.

    ``machine@torch-2.13.0`` is one release, ``machine@torch`` all releases of a framework, whose
    newest time counts that agrees with the other side's (`changes`). A machine alone stands for its
    only framework. `device` counts where a machine has several.

    Raises DeepbenchError for a release that the machine does not have, and where it has several
    frameworks or devices and none is named.
    Raises NoAnswer where the machine has no result under the usual conditions.
    """
    machine, _, release = spec.partition("@")
    points = [point for point in points if point.usual_run]
    if not points:
        raise NoAnswer(f"{machine} has no results under the usual conditions")
    devices = sorted({point.device for point in points})
    if len(devices) > 1:
        if device not in devices:
            raise DeepbenchError(
                f"{machine} has results on {' and '.join(devices)}: choose one with --device"
            )
        points = [point for point in points if point.device == device]
    frameworks = sorted({point.release.framework for point in points})
    names = sorted({point.release.name for point in points})
    if not release and len(frameworks) > 1:
        choices = ", ".join(f"{machine}@{name}" for name in frameworks)
        raise DeepbenchError(f"{machine} has results of several frameworks: write one of {choices}")
    if release and release not in (*names, *frameworks):
        raise unknown(f"release of {machine}", release, [*frameworks, *names])
    asked = [
        point
        for point in points
        if point.compared and release in ("", point.release.name, point.release.framework)
    ]
    steady = [point for point in asked if not point.unsteady]
    times: dict[KernelKey, tuple[Point, ...]] = {}
    for point in sorted(steady, key=lambda point: point.release.date):
        times[point.kernel] = (point, *times.get(point.kernel, ()))
    left = tuple(point for point in asked if point.unsteady)
    only = {found[0].release.name for found in times.values()}
    name = f"{machine}@{release or (only.pop() if len(only) == 1 else frameworks[0])}"
    return Contender(name, times, profile, left)


def elsewhere(contenders: Sequence[Contender], device: str | None) -> list[str]:
    """Return a line for each contender whose times are all of another device than was asked for.

    Raises NoAnswer where that holds for every one of them.
    """
    lines = []
    for each in contenders if device is not None else ():
        devices = sorted({point.device for point in each.points.values()})
        if devices and device not in devices:
            lines.append(f"{each.name} has results on {' and '.join(devices)}, none on {device}")
    if lines and len(lines) == len(contenders):
        raise NoAnswer(f"{'; '.join(lines)}: leave out --device, or choose another")
    return lines


def groups(first: Contender, other: Contender) -> list[FamilyComparison]:
    """Return a group for each family and precision that both have kernels of."""
    shared: dict[tuple[str, str], list[KernelComparison]] = {}
    for change in changes(first, other):
        shared.setdefault((change.first.family, change.first.precision), []).append(change)
    one, two = _sides(first, other)
    return [
        FamilyComparison(
            family,
            precision,
            *_mean([change.ratio for change in found]),
            shared=len(found),
            first_has=_count(one, family, precision),
            other_has=_count(two, family, precision),
            first_of_peak=_share([first.of_peak(change.first) for change in found]),
            other_of_peak=_share([other.of_peak(change.other) for change in found]),
        )
        for (family, precision), found in shared.items()
    ]


def changes(first: Contender, other: Contender) -> list[KernelComparison]:
    """Return the kernels that both have at times that agree (`agree`), widest gain first.

    Of several times the newest pair counts that agrees: the one whose older time is the newest.
    """
    found = [change for change in _shared(first, other) if agree(change.first, change.other)]
    return sorted(found, key=lambda change: change.ratio)


def remarks(first: Contender, other: Contender) -> list[str]:
    """Return remarks on settings, threads and states, a line each: kernels that are left out since
    theirs do not agree, and the number of times whose settings were not recorded."""
    shared = _shared(first, other)
    apart = [change for change in shared if not agree(change.first, change.other)]
    both = [change for change in shared if agree(change.first, change.other)]
    return notes(
        [point for change in both for point in (change.first, change.other)],
        [point for change in apart for point in (change.first, change.other)],
    )


def _shared(first: Contender, other: Contender) -> list[KernelComparison]:
    """Return a pair of each kernel that both have: the newest that agrees, else the newest."""
    one, two = _sides(first, other)
    return [_newest_pair(one[kernel], two[kernel]) for kernel in one if kernel in two]


def _newest_pair(first: Sequence[Point], other: Sequence[Point]) -> KernelComparison:
    def rank(pair: KernelComparison) -> tuple[bool, list[date]]:
        days = sorted((pair.first.release.date, pair.other.release.date))
        return agree(pair.first, pair.other), days

    return max((KernelComparison(one, two) for one in first for two in other), key=rank)


def _sides(first: Contender, other: Contender) -> tuple[Mapping[KernelKey, Sequence[Point]], ...]:
    """Return the times of both by kernel; of measured ones a kernel of several sets is one."""
    sides = first.times, other.times
    if all(
        point.release.measurable for each in sides for found in each.values() for point in found
    ):
        return tuple(pooled_times(itertools.chain.from_iterable(each.values())) for each in sides)
    return sides


def _mean(ratios: Sequence[float]) -> tuple[float, float, float]:
    """Return the geometric mean and its interval, Student's over the logarithms."""
    logs = np.log(ratios)
    mean = float(logs.mean())
    if len(logs) < 2:
        return math.exp(mean), math.nan, math.nan
    error = float(logs.std(ddof=1)) / math.sqrt(len(logs))
    reach = float(stdtrit(len(logs) - 1, (1 + RATIO_CONFIDENCE) / 2)) * error
    return math.exp(mean), math.exp(mean - reach), math.exp(mean + reach)


def _share(shares: Iterable[float | None]) -> float | None:
    known = [share for share in shares if share]
    return float(np.exp(np.mean(np.log(known)))) if known else None


def _count(kernels: Iterable[KernelKey], family: str, precision: str) -> int:
    return sum(kernel[0] == family and kernel[4] == precision for kernel in kernels)
