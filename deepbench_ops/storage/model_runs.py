"""Runs of whole models on a machine, by `deepbench latency` and `deepbench scaling`.

results/MACHINE/model_runs.jsonl holds one JSON object a line.
"""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.storage import (
    atomic_write,
    bounded_read,
    entry_conflict_files,
    json_lines,
    locks,
    model_run_fields,
)
from deepbench_ops.storage.entry_conflict_files import EntryConflicts, EntryVersion
from deepbench_ops.storage.model_run_fields import FILE, ModelRun, key, why_not


def load(machine: Path) -> list[ModelRun]:
    """Return the runs in a machine's folder, none where it has none; of runs that answer the same
    question the last.

    Raises DeepbenchError naming file and line for text that is not such a run.
    """
    path = machine / FILE
    runs: dict[tuple[Any, ...], ModelRun] = {}
    text = bounded_read.read_text(path, bounded_read.RESULT) if path.exists() else ""

    def take(run: ModelRun, line: str) -> None:
        if wrong := why_not(run):
            raise json_lines.DamagedLine(wrong)
        runs[key(run)] = run

    json_lines.take_each(text, str(path), "a run of a model", take)
    return list(runs.values())


def add(machine: Path, runs: Iterable[ModelRun]) -> Path:
    """File runs that were measured here, the newest of each kind of question, and return where.

    Where different numbers were sent for a run, the new one is chosen: the others stay in the file
    of conflicts as rejected ones, so that they change nothing when they are sent again. Raises
    DeepbenchError for a damaged file and for a run that has a value which cannot be right, and
    OSError; all files stay as they are then.
    """
    path, runs = machine / FILE, list(runs)
    for run in runs:
        if wrong := why_not(run):
            asked = ", ".join(str(part) for part in key(run) if part is not None)
            raise DeepbenchError(f"{path}: the run ({asked}) is not saved: {wrong}")
    with (
        locks.results(machine.parent, doing=f"writing {path}"),
        atomic_write.together() as ready,
    ):
        stored = {key(run): run for run in load(machine)}
        new = {key(run): run for run in runs}
        filed = entry_conflict_files.load(machine)
        versions = dict(filed.versions)
        for one in (EntryVersion(FILE, run) for run in new.values()):
            if several := versions.pop(one.key, []):
                before = stored.get(key(one.entry))
                shown = [EntryVersion(FILE, before)] if before is not None else []
                if decided := _rejected([*several, *shown], one):
                    versions[one.key] = [*decided, one]
        atomic_write.write_text(ready(path), json_lines.as_text((stored | new).values()))
        if versions != filed.versions:
            entry_conflict_files.write(machine, EntryConflicts(filed.facts, versions), ready)
    return path


def _rejected(versions: Iterable[EntryVersion], new: EntryVersion) -> list[EntryVersion]:
    """Return versions of a run as rejected ones, each once, without those of the new numbers."""
    others = {one.text: replace(one, rejected=True) for one in versions}
    return [
        one for one in others.values() if not model_run_fields.same_numbers(one.entry, new.entry)
    ]
