"""Published tables of whole models with machines' own figures beside them, cell by cell."""

from collections.abc import Mapping, Sequence

from deepbench_ops.analysis.nearest_run import Run, Wanted, nearest
from deepbench_ops.analysis.points import Point
from deepbench_ops.conditions import LAYOUT
from deepbench_ops.published.models import LAYOUTS, Figure

PER_SECOND = "/sec"
FRAMEWORKS = {"PyTorch": "torch", "MindSpore": "mindspore"}
"""How a table writes those that can be measured here."""

WHOLE_TRAINING = "a whole training is not timed here, its epochs not being published"
SEVERAL_DEVICES = "several devices: one machine's own is measured here"
NOT_MEASURED = "not measured on this machine"

Row = dict[str, object]


def rows(figures: Sequence[Figure], measured: Mapping[str, Sequence[Point]]) -> list[Row]:
    """Return each figure as published; "here" holds each machine's cell, or why it has none."""
    return [
        {
            "network": figure.network,
            "printed": figure.printed,
            "framework": figure.framework,
            "machine": figure.machine,
            "day": figure.day.isoformat(),
            "basis": figure.basis,
            "devices": figure.devices,
            "operation": figure.operation,
            "precision": figure.precision,
            "batch": figure.batch,
            "threads": figure.threads,
            "layout": figure.layout,
            "conditions": figure.conditions,
            "published": figure.value,
            "unit": figure.unit,
            "seconds": figure.seconds,
            "no_point": figure.no_point,
            "here": {name: _cell(figure, points) for name, points in measured.items()},
        }
        for figure in figures
    ]


def _cell(figure: Figure, points: Sequence[Point]) -> Row:
    """Return what a machine has for a published figure, or why it has nothing."""
    if figure.devices > 1:
        return {"why_not": SEVERAL_DEVICES}
    wanted = Wanted(
        figure.network,
        figure.operation,
        figure.precision,
        figure.batch,
        figure.threads,
        LAYOUTS.get(figure.layout, LAYOUT.usual),
        framework=FRAMEWORKS.get(figure.framework.partition(" ")[0], ""),
    )
    run = nearest(points, wanted)
    if run is None:
        return {"why_not": NOT_MEASURED}
    cell = _measured(run)
    if not figure.unit.endswith(PER_SECOND):
        return cell | {"why_not": WHOLE_TRAINING}
    return cell


def _measured(run: Run) -> Row:
    low, high = run.interval or (None, None)
    return {
        "release": run.point.release.name,
        "benchmark": run.point.benchmark,
        "problem": run.point.problem_id,
        "precision": run.point.precision,
        "unusual": run.point.unusual,
        "seconds": run.point.seconds,
        "per_second": run.per_second,
        "low": low,
        "high": high,
        "without_interval": run.point.without_interval,
        "differs": list(run.differs),
    }
