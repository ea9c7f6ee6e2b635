"""The lines of all machines, read from results/ once for all the pages that tell of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from deepbench_ops.analysis import history, points
from deepbench_ops.analysis.history import Line
from deepbench_ops.analysis.software_versions import stacks
from deepbench_ops.asv_adapter import stored
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.machine import profile
from deepbench_ops.pages.machine_cache import Kept
from deepbench_ops.pages.site_data import Machine
from deepbench_ops.pages.stored_lines import Found
from deepbench_ops.releases.table import Release
from deepbench_ops.storage import model_runs

STRANGE = "times are left out"
"""Said of times whose benchmark or parameters name no kernel."""


def read(
    results: Path, timeline: Sequence[Release], kept: Kept[Found] | None = None
) -> tuple[list[Line], list[Machine], list[str]]:
    """Return all lines, of single releases and published figures too; the machines; what is torn.

    A machine whose files are broken is among the machines, without lines. Of those that `kept`
    knows nothing is read again.
    """
    lines: list[Line] = []
    machines: list[Machine] = []
    torn: list[str] = []
    for name in points.machines(results):
        make = partial(_machine, results, name, timeline)
        found = kept.made(results / name, make) if kept else make()
        lines += found[0]
        machines.append(found[1])
        torn += found[2]
    return lines, machines, torn


def _machine(results: Path, name: str, timeline: Sequence[Release]) -> Found:
    known = {release.hash: release for release in timeline}
    torn: list[str] = []

    def whole(reading: Callable[[], Any], instead: Any) -> Any:
        try:
            return reading()
        except DeepbenchError as reason:
            torn.append(f"{name}: {reason}")
            return instead

    strange: Counter[str] = Counter()
    found = whole(lambda: points.load(results, name, known, rounds=True, strange=strange), [])
    torn += [f"{name}: {count} {STRANGE}: {why}" for why, count in strange.items()]
    unlisted = Counter(p.release.version for p in found if p.release.hash not in known)
    torn += [
        f"{name}: {count} times of commit {commit} are left out, which is no release of the"
        " release table"
        for commit, count in unlisted.items()
    ]
    machine = Machine(
        name,
        whole(lambda: stored.entry(results / name / "machine.json"), {}),
        whole(lambda: profile.read(results, name), None),
        tuple(whole(lambda: model_runs.load(results / name), ())),
        tuple(whole(lambda: stacks(results, name, timeline), ())),
    )
    return history.lines(found, timeline, fewest=1), machine, torn
