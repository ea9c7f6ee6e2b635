"""Fragments, the parts after #, in addresses of this project's own pages."""

from __future__ import annotations

from typing import Any

from deepbench_ops.analysis.points import Point


def timeline_fragment(point: Point) -> dict[str, Any]:
    """Names and values in the address of timeline.html that shows the line of a point."""
    values = {
        "machine": point.machine,
        "framework": point.release.framework,
        "family": point.family,
        "set": point.set,
        "operation": point.operation,
        "precision": point.precision,
        "problem": point.problem_id,
    }
    return values if point.ranks is None else values | {"ranks": point.ranks}
