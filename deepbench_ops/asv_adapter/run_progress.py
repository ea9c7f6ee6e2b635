"""Progress of a run: how far it is, when it will end, and at its end where the time went."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from asv.console import log

from deepbench_ops.storage.result_key import ResultKey

BETWEEN_LINES = 15.0
"""Seconds; a point that takes longer gets a line of its own."""

Clock = Callable[[], float]


@dataclass
class RunProgress:
    """Count of a run's points, one for every process that measures a point.

    left: by point, how often it is still to be measured.
    """

    left: Counter[ResultKey]
    clock: Clock = time.monotonic
    say: Callable[[str], object] = log.info
    done: int = 0
    measured: int = 0
    """Of those that are done: not taken up from an interrupted run."""
    records: list[Mapping[str, Any]] = field(default_factory=list)
    """Of the points measured now, which say where their time went."""
    _took: dict[ResultKey, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._started = self._said = self.clock()
        self.points = self.left.total()

    def begin(self, point: ResultKey) -> None:
        """Report the point that is measured now, unless a line was printed a moment ago."""
        now = self.clock()
        if now - self._said < BETWEEN_LINES:
            return
        self._said = now
        name, parameters = point
        left = f", about {duration_text(self.remaining())} left" if self._took else ""
        self.say(f"{self.done} of {self.points} points{left}: now {name} {' '.join(parameters)}")

    def end(
        self, point: ResultKey, seconds: float, records: Iterable[Mapping[str, Any]] = ()
    ) -> None:
        """Count a measured point, its seconds and its records."""
        self._count(point, seconds)
        self.measured += 1
        self.records.extend(records)

    def skip(self, point: ResultKey, seconds: float) -> None:
        """Count a point taken up from an interrupted run; seconds: that it took there."""
        self._count(point, seconds)

    def remaining(self) -> float:
        """Return an estimate of the seconds that the rest takes.

        A point that another process has measured takes as long again; others take the mean of their
        benchmark's points, or of all points while it has none.
        """
        by_benchmark: dict[str, list[float]] = {}
        for point, seconds in self._took.items():
            by_benchmark.setdefault(point[0], []).append(seconds)
        means = {name: fmean(found) for name, found in by_benchmark.items()}
        overall = fmean(self._took.values())
        return sum(
            times * self._took.get(point, means.get(point[0], overall))
            for point, times in self.left.items()
        )

    def _count(self, point: ResultKey, seconds: float) -> None:
        self.done += 1
        self.left[point] -= 1
        self._took[point] = seconds

    def summary(self) -> str:
        """Return one line: points measured, seconds per point, and where the time went."""
        elapsed = self.elapsed()
        where = shares(self.records, elapsed)
        cost = f", {elapsed / self.measured:.1f} s each" if self.measured else ""
        done = f"{self.done} of {self.points} points in {duration_text(elapsed)}"
        return f"{done}{cost}{where and ': '}{where}"

    def elapsed(self) -> float:
        """Return seconds since the run began."""
        return self.clock() - self._started


def shares(records: Iterable[Mapping[str, Any]], elapsed: float) -> str:
    """Return one line: the shares of `elapsed` seconds in kernels, next to them and outside.

    From the ``spent`` of each record: ``measuring`` seconds in all, including ``kernel`` seconds in
    the kernel itself, warm-up included; the rest of measuring is the yardstick and waiting for a
    disturbed machine. ``preparing`` is the inputs and the first check, ``checking`` the last one.
    All else goes to starting processes, imports and skipped kernels.
    """
    spent = [record["spent"] for record in records if "spent" in record]
    if not spent or elapsed <= 0:
        return ""
    kernel, measuring, preparing, checking = (
        sum(part.get(name, 0.0) for part in spent)
        for name in ("kernel", "measuring", "preparing", "checking")
    )
    outside = max(0.0, elapsed - measuring)
    rest = max(0.0, outside - preparing - checking)

    def part(seconds: float) -> str:
        return f"{seconds / elapsed:.0%}"

    return (
        f"{part(kernel)} in the kernels, {part(measuring - kernel)} in yardsticks and waiting, "
        f"{part(outside)} outside ({part(preparing)} preparing, {part(checking)} checking outputs, "
        f"{part(rest)} processes and skips)"
    )


def duration_text(seconds: float) -> str:
    """Return a duration in words, in one or two units."""
    whole = max(1, round(seconds))
    if whole < 90:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 10:
        return f"{minutes} min {rest} s"
    if minutes < 90:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"
