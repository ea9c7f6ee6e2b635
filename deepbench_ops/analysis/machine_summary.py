"""Summary of a machine's results: number of kernels, newest release, and share of the roof."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import median

from deepbench_ops.analysis.kernel_lines import Line
from deepbench_ops.analysis.points import Point
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

    Lines under unusual conditions are left out: a kernel counts once.
    """
    wanted = {(member.problem.family, member.set, member.problem.id) for member in headline}
    groups: dict[SummaryKey, list[Point]] = defaultdict(list)
    for line in lines:
        point = line.steady[-1] if line.steady else None
        if point is not None and point.compared and point.usual:
            groups[group(point)].append(point)
    return [
        FamilySummary(
            *key[:4],
            newest=max((point.release for point in points), key=lambda release: release.date),
            kernels=len(points),
            of_roof=_middle(share(profiles.get(key[0]), point) for point in points),
            headline=len(wanted & {(p.family, p.set, p.problem_id) for p in points}),
            sources=_sources(points),
            unusual=points[-1].unusual,
        )
        for key, points in sorted(groups.items())
    ]


def group(point: Point) -> SummaryKey:
    """Return the group that a point belongs to."""
    return (point.machine, point.release.framework, point.family, point.precision, point.device)


def _sources(points: Sequence[Point]) -> tuple[Source, ...]:
    by: dict[Release, list[Point]] = defaultdict(list)
    for point in points:
        by[point.release].append(point)
    newest = sorted(by, key=lambda release: release.date, reverse=True)
    return tuple(Source(release, len(by[release]), selections(by[release])) for release in newest)


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
