"""What a machine has results of, how fresh they are, and how near its roof they come."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from deepbench_ops.analysis.history import Line
from deepbench_ops.analysis.points import Point
from deepbench_ops.analysis.roofline import share
from deepbench_ops.machine.profile import Profile
from deepbench_ops.problems.selections import Selected
from deepbench_ops.releases.table import Release


@dataclass(frozen=True)
class Standing:
    """A framework's kernels of a family at one precision on a machine, by their newest times.

    newest: the newest of their releases. of_roof: the median share of the roofline, None where
    no kernel has one. headline: how many of the family's headline problems are among them.
    """

    machine: str
    framework: str
    family: str
    precision: str
    newest: Release
    kernels: int
    of_roof: float | None
    headline: int


def standings(
    lines: Iterable[Line],
    profiles: Mapping[str, Profile | None],
    headline: Sequence[Selected],
) -> list[Standing]:
    """Return what the lines of all machines come to, by machine, framework and family.

    Those of another layout, say, are left out: a kernel counts once.
    """
    wanted = {(member.problem.family, member.set, member.problem.id) for member in headline}
    groups: dict[tuple[str, str, str, str], list[Point]] = defaultdict(list)
    for line in lines:
        point = line.points[-1]
        if point.compared and point.usual:
            key = (point.machine, point.release.framework, point.family, point.precision)
            groups[key].append(point)
    return [
        Standing(
            *key,
            newest=max((point.release for point in points), key=lambda release: release.date),
            kernels=len(points),
            of_roof=_middle(share(profiles.get(key[0]), point) for point in points),
            headline=len(wanted & {(p.family, p.set, p.problem_id) for p in points}),
        )
        for key, points in sorted(groups.items())
    ]


def _middle(shares: Iterable[float | None]) -> float | None:
    known = [one for one in shares if one]
    return median(known) if known else None
