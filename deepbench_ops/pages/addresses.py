"""What the addresses of our own pages hold behind #."""

from __future__ import annotations

from typing import Any

from deepbench_ops.analysis.points import Point


def timeline(point: Point) -> dict[str, Any]:
    """What timeline.html shows the line of a point by, on its machine, of its framework."""
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
