"""The lines of all machines, read from results/ once for all the pages that tell of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from asv.console import log

from deepbench_ops.analysis import history, points
from deepbench_ops.analysis.history import Line
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.releases.table import Release


def read(results: Path, timeline: Sequence[Release]) -> tuple[list[Line], list[str]]:
    """Return the measured lines, of single releases too, and what is torn, machine by machine."""
    order = [release for release in timeline if release.measurable]
    known = {release.hash: release for release in order}
    lines: list[Line] = []
    torn: list[str] = []
    for machine in points.machines(results):
        try:
            found = points.load(results, machine, known, rounds=True)
        except DeepbenchError as reason:
            log.error(str(reason))
            torn.append(f"{machine}: {reason}")
            continue
        lines += history.lines(found, order, fewest=1)
    return lines, torn
