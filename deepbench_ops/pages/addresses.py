"""Fragments, the parts after #, in addresses of our own pages."""

from __future__ import annotations

from typing import Any

from deepbench_ops.analysis.points import Point


def timeline(point: Point) -> dict[str, Any]:
    """The values in the address of timeline.html that show the line of a point."""
    wanted = {
        "machine": point.machine,
        "framework": point.release.framework,
        "family": point.family,
        "set": point.set,
        "operation": point.operation,
        "precision": point.precision,
        "problem": point.problem_id,
    }
    return wanted if point.ranks is None else wanted | {"ranks": point.ranks}
