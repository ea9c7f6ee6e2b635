"""The lines of a machine: one kernel over the releases of one framework, and where it changed.

A line's points are the processes that measured it, two or more a release, in the order of the
releases; a published figure is a point of its own. So a release that was measured twice says how
far processes lie apart, which is the noise that a change has to stand out of.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import Any

from deepbench_ops.analysis.change_detection import Change, detect_changes
from deepbench_ops.analysis.change_screening import detect_each
from deepbench_ops.analysis.points import Point
from deepbench_ops.analysis.process_noise import noise
from deepbench_ops.analysis.settings_and_state_agreement import groups_that_agree
from deepbench_ops.analysis.shared_rounds import SEPARATE_PROCESSES, SharedStep
from deepbench_ops.measure.machine_states import INCOMPARABLE
from deepbench_ops.releases.release_table import Release

FEWEST_PROCESSES = 12
"""A line of fewer shows no change, however large (see `detect_changes`)."""
FEWEST_RELEASES = -(-FEWEST_PROCESSES // 2)
"""So many releases of two processes each have them."""


@dataclass(frozen=True)
class Line:
    """One kernel on one machine over the releases of a framework, oldest first.

    Figures of a line are derived from its steady points. shared: the verdict of shared rounds on a
    step, by the place of the earlier release among the steady points (`lines_with_rounds.joined`
    adds them).
    """

    points: tuple[Point, ...]
    shared: tuple[tuple[int, SharedStep], ...] = ()

    @cached_property
    def steady(self) -> tuple[Point, ...]:
        """The points that are not unsteady."""
        return tuple(point for point in self.points if not point.unsteady)

    @property
    def columns(self) -> Any:
        """Columns of the points: in each field of a point a tuple of those of all points."""
        return Point._make(zip(*self.points, strict=True))

    @property
    def levels(self) -> list[float]:
        """The seconds of every process, release by release."""
        return [seconds for point in self.steady for seconds in _levels(point)]

    @cached_property
    def measured(self) -> bool:
        """Whether its points are of releases, not of publications."""
        return self.points[0].release.measurable

    @cached_property
    def state(self) -> str:
        """The state of the machine that its points share; "" where that is not known."""
        return next((point.state for point in self.points if point.state), "")

    @property
    def judgeable(self) -> bool:
        """Whether changes can be found on it: it is long enough, or has shared rounds."""
        return self.long_enough or bool(self.shared)

    @cached_property
    def long_enough(self) -> bool:
        """Whether changes along it differ from noise for sure, between releases that were measured
        in one state of the machine."""
        enough = len(self.steady) > 1 and len(self.levels) >= FEWEST_PROCESSES
        return enough and self.state not in INCOMPARABLE

    @cached_property
    def noise(self) -> float:
        """Spread of the processes of a release: the standard deviation of their logs, NaN
        where every release has one."""
        return noise(point.rounds for point in self.steady)

    @cached_property
    def changes(self) -> "list[Shift]":
        """Its changes of level, oldest first, at most one for each release.

        Where releases share rounds, these decide; elsewhere the detector along the series does.
        """
        found = self._at_releases() if self.long_enough else {}
        for place, step in self.shared:
            found.pop(place, None)
            verdict = step.verdict
            if verdict.kind in ("slower", "faster"):
                interval = verdict.ratio, verdict.low, verdict.high
                found[place] = Change(place + 1, *interval, 1 - verdict.probability)
        return [self.shift(found[place]) for place in sorted(found)]

    def compute(self) -> None:
        """Compute the noise, and the changes where they can be found, for later questions."""
        _ = self.noise
        if self.measured and self.judgeable:
            _ = self.changes

    def shift(self, change: Change) -> "Shift":
        """Return a change whose index is that of the first release after it, with its points."""
        before, after = self.steady[change.index - 1 : change.index + 1]
        return Shift(before, after, change, self.noise, dict(self.shared).get(change.index - 1))

    @cached_property
    def detected(self) -> list[Change]:
        """The changes that the detector finds along the levels (`detect` computes those of many
        lines at once)."""
        return detect_changes(self.levels)

    def _at_releases(self) -> dict[int, Change]:
        """Return the changes along the series, by the place of the release before them."""
        ends = list(accumulate(len(_levels(point)) for point in self.steady))
        found: dict[int, Change] = {}
        for change in self.detected:
            # A process inside a release is moved to the release's nearer end.
            place = min(range(len(ends) - 1), key=lambda i: abs(ends[i] - change.index))
            kept = found.get(place)
            if kept is None or change.confidence > kept.confidence:
                found[place] = replace(change, index=place + 1)
        return found


@dataclass(frozen=True)
class Shift:
    """A kernel that became slower or faster between two releases that stand next to each other.

    noise: of its line, see there. shared: the rounds that show it; None where it was found among
    processes that were measured apart.
    """

    before: Point
    after: Point
    change: Change
    noise: float
    shared: SharedStep | None = None

    @property
    def slower(self) -> bool:
        """Whether the later release takes longer."""
        return self.change.ratio > 1

    @property
    def kind(self) -> str:
        """Verdict on it: "slower" or "faster"."""
        return "slower" if self.slower else "faster"

    @property
    def origin(self) -> str:
        """Way it was found: "10 shared rounds" or "separate processes"."""
        return SEPARATE_PROCESSES if self.shared is None else self.shared.origin


def lines(points: Iterable[Point], order: Sequence[Release], fewest: int = 2) -> list[Line]:
    """Return the lines that points make; `order` is the release table, oldest first.

    Points whose external settings or states do not agree are of different lines.
    Points of other releases are left out, as are lines of fewer releases than `fewest`.
    """
    place = {release.hash: number for number, release in enumerate(order)}
    found: dict[tuple[object, ...], list[Point]] = defaultdict(list)
    for point in points:
        if point.release.hash in place:
            key = point.machine, point.release.framework, point.kernel, point.device
            found[key].append(point)
    return [
        Line(tuple(sorted(each, key=lambda point: place[point.release.hash])))
        for members in found.values()
        for each in groups_that_agree(members)
        if len(each) >= fewest
    ]


def detect(lines: Iterable[Line]) -> None:
    """Compute the changes along all lines that are long enough, for later questions, in less time
    than one after the other takes."""
    undetected = [line for line in lines if line.long_enough and "detected" not in vars(line)]
    found = detect_each([line.levels for line in undetected])
    for line, changes in zip(undetected, found, strict=True):
        vars(line)["detected"] = changes


def _levels(point: Point) -> tuple[float, ...]:
    return point.rounds or (point.seconds,)
