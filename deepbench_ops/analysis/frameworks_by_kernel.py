"""Frameworks of one machine on the same kernels: the newest time of each, and the fastest.

Each point was measured by some processes; how far processes of one point lie apart is the noise
that a difference between frameworks has to stand out of. Two processes say little of their own,
so the noise is that of all a framework's kernels of a family together. Rounds of a history lie
closer together than processes: their seconds are those of one anchor times the rounds' ratios, so
that the noise of the anchor's calibration is not among them.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

from deepbench_ops.analysis.clear_leads import LEAST, are_clear, first_two_compared
from deepbench_ops.analysis.framework_order import Place, in_order
from deepbench_ops.analysis.points import Point
from deepbench_ops.analysis.pooled_sets import pooled_point, same_kernel
from deepbench_ops.analysis.process_noise import noise
from deepbench_ops.analysis.settings_and_state_agreement import comparable, groups_that_agree
from deepbench_ops.analysis.shared_rounds import JudgedSteps, Shared
from deepbench_ops.analysis.verdict import Verdict

DEVIATIONS = 3.0
"""A difference counts from so many of its own standard deviations on, and from `LEAST` on."""

NORMAL_99 = 2.576
"""Standard deviations from the middle of a normal distribution to an end of its 99 % interval."""

NONE: Shared = MappingProxyType({})
"""Rounds of a machine on which no frameworks were measured together."""

Noise = Mapping[tuple[str, str, str], float]
"""Standard deviation of the logs of processes, by framework, family and device."""


@dataclass(frozen=True)
class Contest:
    """One kernel, by framework its newest point, fastest first.

    ahead: how many times as long the second takes. shared: the rounds that had both in the same
    milliseconds, from which that ratio is; 0 where it is that of times taken apart. fastest: the
    framework that is faster than all others beyond the noise, "" where none is. sets: the published
    sets that it is in.
    """

    points: tuple[Point, ...]
    ahead: float
    fastest: str
    sets: tuple[str, ...]
    shared: int = 0

    @property
    def kernel(self) -> Point:
        """A point of the kernel, for the fields that all of its points share."""
        return self.points[0]


def contests(points: Iterable[Point], shared: Shared = NONE) -> list[Contest]:
    """Return the kernels that two frameworks or more have under the same external settings and in
    the same state of the machine.

    shared: rounds that have several frameworks; a lead rests on them where they have both, and is
    corrected for the number of such kernels among the given ones.

    points: of one machine, with their rounds; published figures and unsteady points are left out.
    A kernel of several sets is one kernel, with the processes of all of them.
    """
    several = _shared_kernels(points)
    known = noises([point for found, _ in several for point in found])
    steps = JudgedSteps(shared)
    ordered = in_order([found for found, _ in several], steps)
    steps.judge((first.point, second.point) for first, second, *_ in ordered)

    def shared_verdict(one: Place, other: Place) -> Verdict | None:
        step = steps.between(one.point, other.point)
        return None if step is None else step.verdict

    ordered = [first_two_compared(places, shared_verdict) for places in ordered]
    steps.judge((first.point, other.point) for first, *others in ordered for other in others)
    verdicts = [[shared_verdict(first, other) for other in others] for first, *others in ordered]
    clear = are_clear([[each for each in of if each is not None] for of in verdicts])
    return [
        _contest(places, sets, known, steps, in_rounds)
        for places, (_, sets), in_rounds in zip(ordered, several, clear, strict=True)
    ]


def _shared_kernels(points: Iterable[Point]) -> list[tuple[list[Point], tuple[str, ...]]]:
    """Return the newest point of each framework and the published sets, for each kernel that two
    frameworks or more have."""
    kernels: dict[tuple[object, ...], list[Point]] = defaultdict(list)
    for point in sorted(points, key=lambda point: point.release.date):
        if point.release.measurable and point.compared and not point.unsteady:
            kernels[*same_kernel(point), point.device].append(point)
    several = []
    for found in kernels.values():
        for group in groups_that_agree(comparable(found)):
            by: dict[str, list[Point]] = defaultdict(list)
            for point in group:
                by[point.release.framework].append(point)
            if len(by) > 1:
                sets = tuple(sorted({point.set for point in group}))
                several.append(([pooled_point(each) for each in by.values()], sets))
    return several


def noises(points: Sequence[Point]) -> dict[tuple[str, str, str], float]:
    """Return how far processes of a point lie apart, by framework, family and device.

    From the median over kernels, which a few disturbed ones do not move. Rounds of histories count
    where no point of the framework was measured by several processes of its own. One whose points
    were all measured by a single process is left out.
    """
    alone: dict[tuple[str, str, str], list[Sequence[float]]] = defaultdict(list)
    of_histories: dict[tuple[str, str, str], list[Sequence[float]]] = defaultdict(list)
    for point in points:
        if len(point.rounds) > 1:
            groups = alone if point.ensemble is None else of_histories
            groups[point.release.framework, point.family, point.device].append(point.rounds)
    return {key: noise(rounds) for key, rounds in {**of_histories, **alone}.items()}


def _contest(
    places: Sequence[Place],
    sets: tuple[str, ...],
    noises: Noise,
    steps: JudgedSteps,
    clear_in_rounds: bool,
) -> Contest:
    """Return the contest of places, the fastest first.

    clear_in_rounds: whether the first is ahead of all others that share rounds with it.
    """
    first, second, *_ = places
    step = steps.between(first.point, second.point)
    apart = [each for each in places[1:] if steps.between(first.point, each.point) is None]
    clear = clear_in_rounds and all(
        stands_out(each.seconds / first.seconds, _doubt_of_places(first, each, noises, steps))
        for each in apart
    )
    return Contest(
        tuple(place.point for place in places),
        second.seconds / first.seconds if step is None else step.verdict.ratio,
        first.point.release.framework if clear else "",
        sets,
        0 if step is None else step.verdict.rounds,
    )


def _doubt_of_places(first: Place, second: Place, noises: Noise, steps: JudgedSteps) -> float:
    """Return the standard deviation of the log of the ratio of two places without shared rounds.

    Their seconds may be those of a third point that each shares rounds with.
    """
    path = dict.fromkeys([first.point, first.through, second.through, second.point])
    return math.hypot(*(ratio(*two, noises, steps).deviation for two in pairwise(path)))


def _of(point: Point, noises: Noise) -> float:
    """Return the noise of a point's framework, family and device, where it is not known that of the
    family's worst framework, infinite without any."""
    place = point.family, point.device
    known = noises.get((point.release.framework, *place))
    if known is not None:
        return known
    others = [value for (_, *other), value in noises.items() if tuple(other) == place]
    return max(others, default=math.inf)


def stands_out(ratio: float, deviation: float) -> bool:
    """Whether a ratio above 1 counts, given the standard deviation of its log."""
    return ratio >= LEAST and math.log(ratio) > DEVIATIONS * deviation


class Ratio(NamedTuple):
    """The ratio of two times.

    log: its logarithm. deviation: the standard deviation of that, infinite where it is not known.
    rounds: number of those that measured both, from which the ratio is; 0 where it is that of times
    taken apart.
    """

    log: float
    deviation: float
    rounds: int


def ratio(first: Point, second: Point, noises: Noise, steps: JudgedSteps) -> Ratio:
    """Return the time of the second point over that of the first.

    A time taken apart has the noise of its processes, over the root of their number. One from a
    history has the noise of a single process, since all its rounds share the anchor's seconds.
    """
    step = steps.between(first, second)
    if step is not None:
        found = step.verdict
        reach = math.log(found.high / found.low) / 2
        return Ratio(math.log(found.ratio), reach / NORMAL_99, found.rounds)
    deviation = math.hypot(*(_deviation(point, noises) for point in (first, second)))
    return Ratio(math.log(second.seconds / first.seconds), deviation, 0)


def _deviation(point: Point, noises: Noise) -> float:
    """Return the standard deviation of the log of a time by itself."""
    processes = 1 if point.ensemble is not None else max(len(point.rounds), 1)
    return _of(point, noises) / math.sqrt(processes)


def wins(found: Iterable[Contest]) -> dict[str, dict[str, int]]:
    """Return by family how many kernels each framework is fastest on; "" for none."""
    counted: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for contest in found:
        counted[contest.kernel.family][contest.fastest] += 1
    return {family: dict(by) for family, by in counted.items()}
