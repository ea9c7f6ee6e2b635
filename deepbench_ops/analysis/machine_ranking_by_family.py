"""Ranking of machines at a family, by their rates on the kernels that they share.

Of a machine the fastest framework counts, kernel by kernel, each with its newest steady time in one
state of the machine (`_fastest`).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from statistics import geometric_mean

from deepbench_ops.analysis.kernel_lines import Line
from deepbench_ops.analysis.points import KernelKey, Point, devices_of_machines
from deepbench_ops.analysis.pooled_sets import newest_point, same_kernel
from deepbench_ops.analysis.roofline import roof
from deepbench_ops.analysis.settings_and_state_agreement import comparable, groups_that_agree
from deepbench_ops.analysis.shared_kernels import levels
from deepbench_ops.machine.machine_profile import Profile
from deepbench_ops.problems.problem_lists import TYPES

_Kernel = tuple[str, KernelKey]
"""A machine with one of its devices, measured or as published, and a kernel on it."""

_PUBLISHED = ", published"
"""Behind the name of a machine that also has measured times."""


@dataclass(frozen=True)
class Rank:
    """A machine in a ranking, with one of its devices, either measured or as published.

    device: "" where it is the usual one, or the only one of a machine, such as of a published GPU.
    rate: FLOP/s, of an all-reduce bytes/s, as the geometric mean over the shared kernels.
    roof: the same of the roofs of the kernels that it is ranked by, None where none has one.
    frameworks: those that were fastest on a kernel, the most frequent first.
    day: of the newest release among them. kernels and through: see `shared_kernels.SharedMean`.
    """

    machine: str
    rate: float
    roof: float | None
    frameworks: tuple[str, ...]
    day: date
    published: bool
    kernels: int
    through: str
    device: str = ""

    @property
    def name(self) -> str:
        """The machine, with the device where it has one."""
        return _name(self.machine, self.device)


@dataclass(frozen=True)
class Ranking:
    """Machines by their rate at a family and precision, the fastest first; each device of a machine
    has a rank, and its published times have one of their own.

    kernels: how many they share. counts: "FLOP/s" or "B/s", the unit of the rates.
    """

    family: str
    precision: str
    kernels: int
    counts: str
    ranks: tuple[Rank, ...]


def rankings(lines: Iterable[Line], profiles: Mapping[str, Profile | None]) -> list[Ranking]:
    """Return a ranking for each family and precision that two machines or more share kernels of.

    Whole models are left out, and operations that are not totalled in rankings.
    """
    own: dict[_Kernel, list[Point]] = defaultdict(list)
    lines = list(lines)
    devices = devices_of_machines(line.points[0] for line in lines)
    measured = {line.points[0].machine for line in lines if line.measured}
    for line in lines:
        point = line.steady[-1] if line.steady else None
        if point is None or not _counts(point):
            continue
        name = _name(point.machine, _device(point, devices))
        if not line.measured and point.machine in measured:
            name += _PUBLISHED
        own[name, same_kernel(point)] += line.steady
    best: dict[tuple[str, str], dict[str, dict[KernelKey, Point]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    for (name, kernel), points in own.items():
        fastest = _fastest(points)
        best[fastest.family, fastest.precision][name][kernel] = fastest
    families = list(TYPES)
    found = [
        _ranking(family, precision, points, profiles, devices)
        for (family, precision), points in sorted(
            best.items(), key=lambda item: (families.index(item[0][0]), item[0][1])
        )
    ]
    return [ranking for ranking in found if len(ranking.ranks) > 1]


def _fastest(points: Sequence[Point]) -> Point:
    """Return the newest time of the fastest framework in the state in which a kernel was measured
    most often.

    Where all states are unknown or changed, the newest time: it compares with other machines alone.
    points: all steady times of a kernel on a machine. `deepbench fastest` counts the same state.
    """
    in_states = groups_that_agree(comparable(points))
    if not in_states:
        return newest_point(points)
    frameworks: dict[str, list[Point]] = defaultdict(list)
    for point in in_states[0]:
        frameworks[point.release.framework].append(point)
    return min(map(newest_point, frameworks.values()), key=lambda point: point.seconds)


def _device(point: Point, devices: Mapping[str, set[str]]) -> str:
    return point.other_device if len(devices[point.machine]) > 1 else ""


def _name(machine: str, device: str) -> str:
    return f"{machine}, {device}" if device else machine


def _counts(point: Point) -> bool:
    kind = TYPES[point.family]
    return point.operation in kind.totalled and not kind.whole_models and point.usual


def _ranking(
    family: str,
    precision: str,
    points: Mapping[str, Mapping[KernelKey, Point]],
    profiles: Mapping[str, Profile | None],
    devices: Mapping[str, set[str]],
) -> Ranking:
    rates = {
        name: {kernel: point.rate for kernel, point in own.items()} for name, own in points.items()
    }
    kernels, found = levels(rates)
    ranks = []
    for name, level in found.items():
        own = points[name]
        shared = points[level.through] if level.through else kernels
        used = [own[kernel] for kernel in own if kernel in shared]
        by = Counter(point.release.framework for point in used)
        ranks.append(
            Rank(
                used[0].machine,
                level.value,
                _roof(profiles.get(used[0].machine), used, level.value),
                tuple(framework for framework, _ in by.most_common()),
                max(point.release.date for point in used),
                not used[0].release.measurable,
                level.kernels,
                level.through,
                _device(used[0], devices),
            )
        )
    flops = any(point.flops for own in points.values() for point in own.values())
    ranks.sort(key=lambda rank: -rank.rate)
    return Ranking(family, precision, len(kernels), "FLOP/s" if flops else "B/s", tuple(ranks))


def _roof(profile: Profile | None, points: Iterable[Point], rate: float) -> float | None:
    """Return `rate` over the geometric mean of the shares of the roof, None without a share."""
    shares = [point.rate / top for point in points if (top := roof(profile, point))]
    return rate / geometric_mean(shares) if shares else None
