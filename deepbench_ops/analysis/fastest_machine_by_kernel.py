"""Fastest machine for each kernel as of any day, as in the tables of DeepBench's README."""

import itertools
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from deepbench_ops.analysis.points import Point
from deepbench_ops.analysis.settings_and_state_agreement import comparable, groups_that_agree
from deepbench_ops.problems.selections import Selected

_Kernel = tuple[str, str, int | None]
"""Set, problem and ranks."""

_Totals = dict[_Kernel, dict[str, dict[str, dict[str, Point]]]]
"""Times by kernel, by machine with device, framework and precision, by release (oldest first), and
by operation."""


@dataclass(frozen=True)
class SpeedRecord:
    """A kernel's best total on a day, and the machine, device and release that have it.

    release: names of several, oldest first, where no release has all passes. day: of the newest of
    them. seconds: of the passes together. rate: FLOP/s of the forward pass, of an all-reduce
    bytes/s of all ranks' vectors, as DeepBench counts it. passes: how many there are.
    """

    set: str
    problem_id: str
    family: str
    precision: str
    ranks: int | None
    machine: str
    release: str
    day: date
    seconds: float
    rate: float
    passes: int
    device: str


def records(
    points: Iterable[Point],
    selected: Sequence[Selected],
    precisions: Collection[str],
    as_of: date | None = None,
) -> list[SpeedRecord]:
    """Return the fastest of each selected kernel at any of `precisions`, in the selection's order.

    Of each machine its newest steady times up to `as_of` count, in one state of the machine
    (`counting`); a total is of passes at one precision on one device, and of one release where one
    has them all.
    """
    counted, _ = counting(points, selected, precisions, as_of)
    return _records(counted, _places(selected))


def history(
    points: Sequence[Point],
    selected: Sequence[Selected],
    precisions: Collection[str],
    as_of: date | None = None,
) -> list[list[SpeedRecord]]:
    """Return, for each kernel, its records up to `as_of` in the order in which they were set.

    A record is a time below all earlier ones, on any machine; or the first total of more passes,
    with which the earlier ones do not compare.
    """
    counted, _ = counting(points, selected, precisions, as_of)
    places = _places(selected)
    totals: _Totals = {}
    lines: dict[_Kernel, list[SpeedRecord]] = {}
    for _, added in itertools.groupby(sorted(counted, key=_day), _day):
        for record in _fastest(totals, _add(totals, added), places):
            line = lines.setdefault((record.set, record.problem_id, record.ranks), [])
            last = line[-1] if line else None
            if last is None or record.passes > last.passes or record.seconds < last.seconds:
                line.append(record)
    return list(lines.values())


def counting(
    points: Iterable[Point],
    selected: Sequence[Selected],
    precisions: Collection[str],
    as_of: date | None = None,
) -> tuple[list[Point], list[Point]]:
    """Return the times that count in records up to `as_of`, and those that their state leaves out.

    Times of a kernel on a machine count in one of its states: that in which the most passes were
    measured, of several the most frequent. Where none has as many passes as a release, since states
    are unknown or changed, the newest such release counts: it compares with other machines alone.
    """
    places = _places(selected)
    kernels: dict[tuple[str, _Kernel], list[Point]] = defaultdict(list)
    for point in points:
        late = as_of is not None and point.release.date > as_of
        asked = _kernel(point) in places and point.precision in precisions and not late
        if asked and _counts(point):
            kernels[point.machine, _kernel(point)].append(point)
    counted: list[Point] = []
    left: list[Point] = []
    for found in kernels.values():
        own = set(map(id, _in_one_state(found)))
        for point in found:
            (counted if id(point) in own else left).append(point)
    return counted, left


def _in_one_state(points: Sequence[Point]) -> list[Point]:
    """Return the times of a kernel on a machine that count."""
    newest_first = sorted(
        {point.release for point in points}, key=lambda one: (one.date, one.name), reverse=True
    )
    groups = [
        *groups_that_agree(comparable(points)),
        *([point for point in points if point.release == each] for each in newest_first),
    ]
    return max(groups, key=lambda group: len({point.operation for point in group}))


def _places(selected: Sequence[Selected]) -> dict[_Kernel, int]:
    """Return the place of each kernel in a selection."""
    return {
        (member.set, member.problem.id, ranks): place
        for place, member in enumerate(selected)
        for ranks in member.ranks or (None,)
    }


def _kernel(point: Point) -> _Kernel:
    return point.set, point.problem_id, point.ranks


def _records(points: Iterable[Point], places: Mapping[_Kernel, int]) -> list[SpeedRecord]:
    """Return the fastest of each kernel among times that count."""
    totals: _Totals = {}
    return _fastest(totals, _add(totals, sorted(points, key=_day)), places)


def _day(point: Point) -> date:
    return point.release.date


def _add(totals: _Totals, points: Iterable[Point]) -> set[_Kernel]:
    """Add times, oldest first, to the totals of kernels, and return which kernels they are of."""
    kernels = set()
    for point in points:
        kernel = _kernel(point)
        holder = " ".join((point.machine, point.device, point.release.framework, point.precision))
        releases = totals.setdefault(kernel, {}).setdefault(holder, {})
        releases.setdefault(point.release.name, {})[point.operation] = point
        kernels.add(kernel)
    return kernels


def _fastest(
    totals: _Totals, kernels: Iterable[_Kernel], places: Mapping[_Kernel, int]
) -> list[SpeedRecord]:
    """Return the fastest of each of these kernels, in the order of their places."""
    complete = (
        [
            passes
            for each in totals[kernel].values()
            if _first(passes := _newest_total(each.values()))
        ]
        for kernel in sorted(kernels, key=lambda each: (places[each], each[2] or 0))
    )
    return [_best(holders) for holders in complete if holders]


def _counts(point: Point) -> bool:
    """Whether a time is part of its kernel's total.

    Left out are unsteady times, unusual conditions, and the pass of a first layer to its data.
    """
    if not point.usual or point.unsteady:
        return False
    if point.operation == "backward_data" and getattr(point.problem, "first_layer", False):
        return False
    return point.operation in point.problem.totalled


def _newest_total(releases: Collection[Mapping[str, Point]]) -> Mapping[str, Point]:
    """Return the passes of the newest release that has all that any has; of several, the newest
    time of each pass, where there is no such release.

    releases: the passes of each, oldest first.
    """
    newest = {operation: point for passes in releases for operation, point in passes.items()}
    whole = [passes for passes in releases if len(passes) == len(newest)]
    return whole[-1] if whole else newest


def _first(passes: Mapping[str, Point]) -> Point | None:
    """Return the time of the operation whose rate is shown; None where it is missing."""
    problem = next(iter(passes.values())).problem
    return passes.get(problem.totalled[0])


def _best(holders: Sequence[Mapping[str, Point]]) -> SpeedRecord:
    """Return the holder of the least total, among those that have most of the passes."""
    most = max(len(passes) for passes in holders)
    full = [passes for passes in holders if len(passes) == most]
    passes = min(full, key=lambda passes: sum(p.seconds for p in passes.values()))
    first = _first(passes)
    assert first is not None  # `records` leaves out holders without it
    ranks = first.ranks or 1
    releases = sorted(
        {each.release for each in passes.values()}, key=lambda each: (each.date, each.name)
    )
    return SpeedRecord(
        set=first.set,
        problem_id=first.problem_id,
        family=first.family,
        precision=first.precision,
        ranks=first.ranks,
        machine=first.machine,
        release=", ".join(release.name for release in releases),
        day=releases[-1].date,
        seconds=sum(point.seconds for point in passes.values()),
        rate=first.rate * ranks,
        passes=len(passes),
        device=first.device,
    )
