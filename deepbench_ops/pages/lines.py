"""The lines of all machines, read from results/ once for all the pages that tell of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from asv.console import log

from deepbench_ops.analysis import history, points
from deepbench_ops.analysis.history import Line
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.machine import profile
from deepbench_ops.pages.site_data import Machine
from deepbench_ops.releases.table import Release
from deepbench_ops.results import measurements, model_runs


def read(results: Path, timeline: Sequence[Release]) -> tuple[list[Line], list[Machine], list[str]]:
    """Return all lines, of single releases and published figures too; the machines; what is torn.

    A machine whose files are broken is among the machines, without lines.
    """
    known = {release.hash: release for release in timeline}
    lines: list[Line] = []
    machines: list[Machine] = []
    torn: list[str] = []

    def whole(name: str, reading: Any, instead: Any) -> Any:
        try:
            return reading()
        except DeepbenchError as reason:
            log.error(str(reason))
            torn.append(f"{name}: {reason}")
            return instead

    for name in points.machines(results):
        found = whole(name, lambda name=name: points.load(results, name, known, rounds=True), [])
        lines += history.lines(found, timeline, fewest=1)
        strange = Counter(p.release.version for p in found if p.release.hash not in known)
        torn += [
            f"{name}: {count} times of commit {commit} are left out, which is no release of the"
            " release table"
            for commit, count in strange.items()
        ]
        machines.append(
            Machine(
                name,
                _entry(results / name / "machine.json"),
                whole(name, lambda name=name: profile.read(results, name), None),
                tuple(whole(name, lambda name=name: model_runs.load(results / name), ())),
                _conditions(results / name, timeline),
            )
        )
    return lines, machines, torn


def _conditions(machine: Path, timeline: Sequence[Release]) -> dict[str, dict[str, str]]:
    """By framework what its newest release was measured under, where raw samples tell."""
    paths = {path.name[:8]: path for path in machine.glob("*" + measurements.SUFFIX)}
    newest = {r.framework: paths[r.hash[:8]] for r in timeline if r.hash[:8] in paths}
    return {framework: measurements.conditions(path) for framework, path in newest.items()}


def _entry(path: Path) -> dict[str, str]:
    """asv's entry of a machine, which asv itself has read before."""
    found = json.loads(path.read_text("utf-8"))
    return {str(key): str(value) for key, value in found.items()}
