"""The lines of all machines, read from results/ once for all pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from deepbench_ops.analysis import (
    kernel_lines,
    lines_with_rounds,
    machine_points,
    point_reading,
    shared_rounds,
)
from deepbench_ops.analysis.kernel_lines import Line
from deepbench_ops.analysis.software_versions import stacks
from deepbench_ops.asv_adapter import damaged_file_search, result_files
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange.submissions import entry_conflicts, submission_provenance
from deepbench_ops.machine import machine_profile
from deepbench_ops.pages.cached_line_encoding import MachineLines
from deepbench_ops.pages.machine_cache import MachineCache
from deepbench_ops.pages.machine_record import MachineRecord
from deepbench_ops.releases.release_table import Release
from deepbench_ops.storage import model_run_fields, model_runs
from deepbench_ops.storage.model_run_fields import ModelRun

LEFT_OUT = "times are left out"
"""Part of the message about times whose benchmark or parameters name no known kernel."""


def read(
    results: Path, timeline: Sequence[Release], cache: MachineCache[MachineLines] | None = None
) -> tuple[list[Line], list[MachineRecord], list[str]]:
    """Return all lines, the machines, and messages about unreadable results.

    Published lines and lines of a single release are included. A machine with broken files is
    listed without lines. Machines in `cache` are not read again.
    """
    lines: list[Line] = []
    machines: list[MachineRecord] = []
    problems: list[str] = []
    folders = [results / name for name in point_reading.machines(results, point_reading.no_report)]
    compute = partial(_read_machine, timeline)
    values = cache.values(folders, compute) if cache else {each: compute(each) for each in folders}
    for own_lines, machine, own_problems in values.values():
        lines += own_lines
        machines.append(machine)
        problems += own_problems
    return lines, machines, problems


def _read_machine(timeline: Sequence[Release], folder: Path) -> MachineLines:
    """Return the lines of a machine's folder, whose noise and changes are computed."""
    results, name = folder.parent, folder.name
    known = {release.hash: release for release in timeline}
    problems: list[str] = []

    def read_or(default: Any, reading: Callable[[], Any]) -> Any:
        """Return the result of `reading`; for a broken file, add a problem and return `default`."""
        try:
            return reading()
        except DeepbenchError as reason:
            problems.append(f"{name}: {reason}")
            return default

    strange: Counter[str] = Counter()
    load = partial(machine_points.load, results, name, known, rounds=True, strange=strange)
    found = read_or([], load)
    problems += [f"{name}: {count} {LEFT_OUT}: {why}" for why, count in strange.items()]
    unlisted = Counter(p.release.version for p in found if p.release.hash not in known)
    problems += [
        f"{name}: {count} times of commit {commit} are left out, which is no release of the"
        " release table"
        for commit, count in unlisted.items()
    ]
    conflicts = read_or([], lambda: entry_conflicts.of_machine(folder))
    problems += entry_conflicts.remark(conflicts, of_runs=False)
    sent = entry_conflicts.run_seconds(conflicts)
    facts = (
        read_or({}, lambda: result_files.entry(folder / "machine.json")),
        read_or(None, lambda: machine_profile.read(results, name)),
        tuple(_marked(run, sent) for run in read_or((), lambda: model_runs.load(folder))),
        tuple(read_or((), lambda: stacks(results, name, timeline))),
        read_or("", lambda: submission_provenance.in_words(submission_provenance.read(folder))),
    )
    shared = read_or({}, lambda: shared_rounds.load(results, name))
    machine = MachineRecord(name, *facts, tuple(damaged_file_search.of_folder(folder)))
    lines = lines_with_rounds.joined(kernel_lines.lines(found, timeline, fewest=1), shared)
    kernel_lines.detect(line for line in lines if line.measured)
    for line in lines:
        line.compute()
    return lines, machine, problems


def _marked(run: ModelRun, sent: Mapping[Hashable, tuple[float, ...]]) -> ModelRun:
    """Return a run of a model, with all seconds that were sent where it is in conflict."""
    key = model_run_fields.key(run)
    return {**run, "conflict": list(sent[key])} if key in sent else run
