"""The run of a whole model on a machine that comes nearest to a published one."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from deepbench_ops.analysis.points import Point
from deepbench_ops.problems.model import Model
from deepbench_ops.run_conditions import CACHE, DEVICE, EXECUTION, LAYOUT

MIXED = ("bfloat16", "float16")
"""Precisions that a training step calls mixed: products in 16 bits, weights in 32."""

INT8 = "int8"
"""A precision whose outputs differ more than those of the others."""


@dataclass(frozen=True)
class PublishedConditions:
    """Conditions of the published figure; None or "" where its table does not give one.

    accelerator: whether it is that of a GPU or the like, not of a processor.
    """

    network: str
    operation: str
    precision: str
    batch: int | None
    threads: int
    layout: str = LAYOUT.usual
    framework: str = ""
    accelerator: bool = False


@dataclass(frozen=True)
class NearestRun:
    """A measured point of the same network and operation, and how it differs from the published."""

    point: Point
    differs: tuple[str, ...]

    @property
    def per_second(self) -> float:
        """Items per second: batch x threads / seconds."""
        return self.point.problem.items / self.point.seconds

    @property
    def interval(self) -> tuple[float, float] | None:
        """Interval of the items per second; None where there is none."""
        if self.point.interval is None:
            return None
        low, high = self.point.interval
        return self.point.problem.items / high, self.point.problem.items / low


def nearest(points: Iterable[Point], wanted: PublishedConditions) -> NearestRun | None:
    """Return the nearest of the points, None where the network was not measured.

    With the usual cache and settings. On an accelerator or a processor like the published one, and
    of the same framework, where it was measured there, and of the newest release alone. Precision
    counts first, then threads, then the batch: a smaller one rather than a larger. Of runs equally
    near, eager, compiled and exported, the fastest is taken. int8 stands for int8 alone.
    """
    fitting = [
        point
        for point in points
        if isinstance(point.problem, Model)
        and point.problem.name == wanted.network
        and point.operation == wanted.operation
        and point.layout == wanted.layout
        and point.cache == CACHE.usual
        and not point.settings
        and (point.precision != INT8 or wanted.precision == INT8)
    ]
    if not fitting:
        return None
    like = [p for p in fitting if (p.device != DEVICE.usual) == wanted.accelerator]
    fitting = like or fitting
    fitting = [p for p in fitting if p.release.framework == wanted.framework] or fitting
    newest = max(point.release.date for point in fitting)
    best = min(
        (point for point in fitting if point.release.date == newest),
        key=lambda point: _distance(point, wanted),
    )
    return NearestRun(best, tuple(_differences(best, wanted)))


def device_text(point: Point) -> str:
    """Return the device of a point in words."""
    return f"on {point.device}"


def _model(point: Point) -> Model:
    assert isinstance(point.problem, Model)
    return point.problem


def _precisions(wanted: PublishedConditions) -> Sequence[str]:
    return MIXED if wanted.precision == "mixed" else (wanted.precision or "float32",)


def _distance(point: Point, wanted: PublishedConditions) -> tuple[bool, int, bool, int, float]:
    model = _model(point)
    batch = wanted.batch or model.batch
    return (
        point.precision not in _precisions(wanted),
        abs(model.threads - wanted.threads),
        model.batch > batch,
        abs(model.batch - batch),
        point.seconds / model.items,
    )


def _differences(point: Point, wanted: PublishedConditions) -> Iterable[str]:
    model = _model(point)
    if wanted.framework and point.release.framework != wanted.framework:
        yield point.release.framework
    if point.device != DEVICE.usual:
        yield device_text(point)
    if wanted.batch is None or model.batch != wanted.batch:
        yield f"batch {model.batch}"
    if model.threads != wanted.threads:
        yield f"{model.threads} at once"
    if not wanted.precision or point.precision not in _precisions(wanted):
        yield point.precision
    if point.execution != EXECUTION.usual:
        yield point.execution
