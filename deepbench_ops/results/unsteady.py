"""Points whose processes disagree: on a shared machine some are worth measuring again."""

import math
import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.problems.nearest import unknown
from deepbench_ops.results import measurements

Point = tuple[str, tuple[str, ...]]


def of_release(machine: Path, release: str) -> list[dict[str, Any]]:
    """Return all that a machine's folder holds of one release's measurements, each with its
    environment, which tells the conditions of its run.

    Raises DeepbenchError where the folder does not exist or holds none of that release.
    """
    if not machine.is_dir():
        known = sorted(path.name for path in machine.parent.glob("*") if path.is_dir())
        raise unknown("machine", machine.name, known)
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for path in sorted(machine.glob("*" + measurements.SUFFIX)):
        for entry in measurements.load(path)[1]:
            entry["environment"] = path.name.partition("-")[2]
            found[str(entry.get("release", ""))].append(entry)
    if not found:
        raise DeepbenchError(f"{machine}: no measurements")
    if release not in found:
        raise unknown("measured release", release, sorted(found))
    return found[release]


def spread(entries: Iterable[dict[str, Any]]) -> dict[Point, float]:
    """Return how far the processes of each point lie apart: largest median over smallest, less 1.

    Of calibrated seconds where there was a yardstick, else of raw ones. Points measured in one
    process only are left out; of one measured under several conditions the widest counts.
    """
    medians: dict[tuple[str, Point], list[float]] = defaultdict(list)
    for entry in entries:
        if not measurements.is_less(entry):
            point = entry["benchmark"], tuple(entry["params"])
            medians[entry.get("environment", ""), point].append(measurements.level(entry))
    found: dict[Point, float] = {}
    for (_, point), levels in medians.items():
        if len(levels) > 1:
            found[point] = max(found.get(point, 0.0), max(levels) / min(levels) - 1)
    return found


def pattern(points: Iterable[Point]) -> str:
    """Return the regular expression for `asv run --bench` that picks exactly these points."""
    texts = [f"{name}({', '.join(map(repr, params))})" for name, params in points]
    if not texts:
        return "(?!)"
    return "^(?:" + "|".join(map(re.escape, texts)) + ")$"


def beyond(found: dict[Point, float], limit: float) -> list[Point]:
    """Return the points that lie further apart than `limit`, the worst first.

    Raises DeepbenchError for a limit that is no share above 0.
    """
    if not (math.isfinite(limit) and limit > 0):
        raise DeepbenchError(f"a spread of {limit:g} is no share above 0: give 0.2 for 20 %")
    return sorted((p for p in found if found[p] > limit), key=lambda point: -found[point])
