"""Published tables of whole models with machines' own figures next to them, cell by cell."""

from collections.abc import Mapping, Sequence

from deepbench_ops.analysis.missing_reasons import Resources, missing_reasons, several_devices
from deepbench_ops.analysis.nearest_model_run import NearestRun, PublishedConditions, nearest
from deepbench_ops.analysis.points import Point
from deepbench_ops.analysis.published_model_figures import LAYOUTS, PublishedFigure
from deepbench_ops.run_conditions import LAYOUT

PER_SECOND = "/sec"
FRAMEWORKS = {"PyTorch": "torch", "MindSpore": "mindspore"}
"""Form in which a table writes those that can be measured here."""

WHOLE_TRAINING = "a whole training is not timed here, its epochs not being published"
SPLIT_NOWHERE = "nothing here splits tables over host and device"
NOT_SPLIT = "tables not split over host and device"

Row = dict[str, object]


def rows(
    figures: Sequence[PublishedFigure],
    measured: Mapping[str, Sequence[Point]],
    machines: Mapping[str, Resources],
) -> list[Row]:
    """Return each figure as published, and in "here" each machine's cell by its name.

    measured: points by machine; machines: the resources of each. A cell's "why_not" holds the
    reasons why there is no run like the published one, [] where there is one.
    """
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
            "efficiency": figure.efficiency,
            "platform": figure.platform,
            "cores": figure.cores,
            "latency_ms": figure.latency_ms,
            "loss": figure.loss,
            "accuracy": figure.accuracy,
            "note": figure.note,
            "told": figure.other_figures,
            "published": figure.value,
            "unit": figure.unit,
            "seconds": figure.seconds,
            "no_point": figure.no_point,
            "here": {
                name: _cell(figure, points, machines[name]) for name, points in measured.items()
            },
        }
        for figure in figures
    ]


def _cell(figure: PublishedFigure, points: Sequence[Point], here: Resources) -> Row:
    """Return a machine's figure next to a published one, and the reasons why it is missing."""
    if figure.devices > 1:
        reason = several_devices(figure.network, figure.batch, figure.devices, here)
        return {"why_not": [reason]}
    wanted = PublishedConditions(
        figure.network,
        figure.operation,
        figure.precision,
        figure.batch,
        figure.threads,
        LAYOUTS.get(figure.layout, LAYOUT.usual),
        framework=FRAMEWORKS.get(figure.framework.partition(" ")[0], ""),
        accelerator=figure.devices > 0,
    )
    run = nearest(points, wanted)
    whole = [] if figure.unit.endswith(PER_SECOND) else [WHOLE_TRAINING]
    split = [SPLIT_NOWHERE] if figure.split else []
    cell: Row = {"why_not": [*whole, *split, *missing_reasons(wanted, run, here)]}
    if run is None:
        return cell
    differs = [*run.differs, NOT_SPLIT] if figure.split else list(run.differs)
    return _measured(run) | {"differs": differs} | cell


def _measured(run: NearestRun) -> Row:
    low, high = run.interval or (None, None)
    return {
        "release": run.point.release.name,
        "benchmark": run.point.benchmark,
        "problem": run.point.problem_id,
        "precision": run.point.precision,
        "by": run.point.execution if run.point.operation == "forward" else "",
        "unusual": run.point.unusual,
        "seconds": run.point.seconds,
        "per_second": run.per_second,
        "low": low,
        "high": high,
        "without_interval": run.point.without_interval,
    }
