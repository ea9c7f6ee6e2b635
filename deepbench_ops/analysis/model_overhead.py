"""The framework's overhead: a whole model's seconds beyond its operations, each measured alone."""

from collections.abc import Iterable
from dataclasses import dataclass

from deepbench_ops.analysis.points import Point
from deepbench_ops.analysis.settings_and_state_agreement import agree
from deepbench_ops.problems.problem import OPERATIONS_SUFFIX, computed


@dataclass(frozen=True)
class Overhead:
    """A whole step, and its operations apart, on one machine and release, under one condition."""

    whole: Point
    operations: Point

    @property
    def part(self) -> float:
        """The share of the whole that its operations do not explain: 1 - operations / whole.

        Below 0 where operations run faster one after the other than each alone;
        see docs/reference/method.md.
        """
        return 1 - self.operations.seconds / self.whole.seconds

    @property
    def interval(self) -> tuple[float, float] | None:
        """The widest that both intervals of 99 % allow: it holds at least 98 %. None where one of
        them has none."""
        whole, operations = self.whole.interval, self.operations.interval
        if whole is None or operations is None:
            return None
        return 1 - operations[1] / whole[0], 1 - operations[0] / whole[1]


def overheads(points: Iterable[Point]) -> list[Overhead]:
    """Return an overhead for each whole that was measured apart as well, in the points' order.

    Unsteady points are left out, and pairs whose settings, threads or states do not agree.
    """
    found = [point for point in points if not point.unsteady]
    apart = {_step(point): point for point in found if point.operation.endswith(OPERATIONS_SUFFIX)}
    return [
        Overhead(point, of)
        for point in found
        if point.compared and (of := apart.get(_step(point))) and agree(point, of)
    ]


def _step(point: Point) -> tuple[object, ...]:
    """Return the conditions that a whole and its operations share."""
    return (
        point.machine,
        point.release,
        point.family,
        point.set,
        computed(point.operation),
        point.problem_id,
        point.precision,
        tuple(point.conditions.values()),
    )
