"""Summary of a machine's results: number of kernels, newest release, and share of the roof."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from statistics import median

from deepbench_ops.analysis.kernel_lines import Line
from deepbench_ops.analysis.points import KernelKey, Point
from deepbench_ops.analysis.pooled_sets import newest_point, same_kernel
from deepbench_ops.analysis.roofline import share
from deepbench_ops.machine.machine_profile import Profile
from deepbench_ops.problems.problem_lists import TYPES
from deepbench_ops.problems.selections import Selected, select
from deepbench_ops.releases.release_table import Release


@dataclass(frozen=True)
class Source:
    """A release from which kernels of a summary have their newest times.

    kernels: their number. selections: the arguments of `deepbench select` that pick them.
    """

    release: Release
    kernels: int
    selections: tuple[str, ...]


SummaryKey = tuple[str, str, str, str, str]
"""The key of kernels that are summed up together: machine, framework, family, precision, device."""


@dataclass(frozen=True)
class FamilySummary:
    """A framework's kernels of a family at one precision on a machine, by their newest times.

    newest: the newest of their releases. of_roof: the median share of the roofline, None where
    no kernel has one. headline: how many of the family's headline problems are among them.
    sources: by release where they come from, the newest first. unusual: the device, where it is
    not the usual one.
    """

    machine: str
    framework: str
    family: str
    precision: str
    newest: Release
    kernels: int
    of_roof: float | None
    headline: int
    sources: tuple[Source, ...]
    unusual: Mapping[str, str]


def family_summaries(
    lines: Iterable[Line],
    profiles: Mapping[str, Profile | None],
    headline: Sequence[Selected],
) -> list[FamilySummary]:
    """Return summaries of the lines of all machines, by machine, framework and family.

    Lines under unusual conditions are left out. A kernel counts once, in however many sets and
    states of the machine it was measured.
    """
    wanted = {(member.problem.family, member.set, member.problem.id) for member in headline}
    groups: dict[SummaryKey, dict[KernelKey, list[Point]]] = defaultdict(lambda: defaultdict(list))
    for line in lines:
        point = line.steady[-1] if line.steady else None
        if point is not None and point.compared and point.usual:
            groups[group(point)][same_kernel(point)].append(point)
    return [
        _summary(key, list(kernels.values()), profiles.get(key[0]), wanted)
        for key, kernels in sorted(groups.items())
    ]


def group(point: Point) -> SummaryKey:
    """Return the group that a point belongs to."""
    return (point.machine, point.release.framework, point.family, point.precision, point.device)


def _summary(
    key: SummaryKey,
    kernels: Sequence[Sequence[Point]],
    profile: Profile | None,
    headline: Set[tuple[str, str, str]],
) -> FamilySummary:
    """Return the summary of kernels, each given by the newest points of its lines."""
    newest = [newest_point(points) for points in kernels]
    every = [point for points in kernels for point in points]
    return FamilySummary(
        *key[:4],
        newest=max((point.release for point in newest), key=lambda release: release.recency),
        kernels=len(kernels),
        of_roof=_middle(share(profile, point) for point in newest),
        headline=len(headline & {(p.family, p.set, p.problem_id) for p in every}),
        sources=_sources(kernels),
        unusual=newest[-1].unusual,
    )


def _sources(kernels: Iterable[Sequence[Point]]) -> tuple[Source, ...]:
    by: dict[Release, list[list[Point]]] = defaultdict(list)
    for points in kernels:
        release = newest_point(points).release
        by[release].append([point for point in points if point.release == release])
    newest = sorted(by, key=lambda release: release.recency, reverse=True)
    return tuple(
        Source(release, len(by[release]), selections([p for own in by[release] for p in own]))
        for release in newest
    )


def selections(points: Sequence[Point]) -> tuple[str, ...]:
    """Return the arguments with which `deepbench select` picks these points, of one family.

    The headline, or one batch of each model, where these hold all points; else their sets.
    """
    family = f"--family {points[0].family}"
    wanted = {(point.set, point.problem_id, point.ranks) for point in points}
    if wanted <= _members("headline"):
        own_layers = any(point.operation.startswith("fused") for point in points)
        return (f"headline {family}{' --fused' if own_layers else ''}",)
    smaller = {listed: name for name, listed in TYPES[points[0].family].selections.items()}
    names = []
    for name in sorted({point.set for point in points}):
        own = {member for member in wanted if member[0] == name}
        small = name in smaller and own <= _members(smaller[name])
        names.append(smaller[name] if small else name.replace("_", "-"))
    return tuple(f"{name} {family}" for name in names)


@cache
def _members(selection: str) -> frozenset[tuple[str, str, int | None]]:
    return frozenset(
        (member.set, member.problem.id, ranks)
        for member in select(selection)
        for ranks in member.ranks or (None,)
    )


def _middle(shares: Iterable[float | None]) -> float | None:
    known = [one for one in shares if one]
    return median(known) if known else None
