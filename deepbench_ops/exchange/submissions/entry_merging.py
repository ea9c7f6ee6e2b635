"""Merge of submitted runs of models and rounds of histories: in any order, however often, and in
parts.

The file of a machine shows one version of each; where several differ, all of them are kept in its
file of conflicts (`storage.entry_conflict_files`) until the user chooses.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deepbench_ops.exchange.submissions.shown_version import Rules
from deepbench_ops.exchange.submissions.signed_versions import SignedVersions
from deepbench_ops.storage import (
    atomic_write,
    ensemble_round_files,
    entry_conflict_files,
    json_lines,
    model_run_fields,
    model_runs,
)
from deepbench_ops.storage.atomic_write import Ready
from deepbench_ops.storage.ensemble_round_files import RoundsFile
from deepbench_ops.storage.entry_conflict_files import EntryConflicts, EntryKey, EntryVersion
from deepbench_ops.storage.fact_lines import FactsByDigest


def _run_contains(more: EntryVersion, less: EntryVersion) -> bool:
    return model_run_fields.same_numbers(more.entry, less.entry)


def _run_weight(one: EntryVersion) -> tuple[int, float, str]:
    return samples(one), seconds(one) or 0.0, one.text


def _round_contains(more: EntryVersion, less: EntryVersion) -> bool:
    return ensemble_round_files.contains(more.entry, less.entry)


def _round_weight(one: EntryVersion) -> tuple[int, float, str]:
    return samples(one), math.fsum(_times(one)), one.text


RUNS = Rules(_run_contains, _run_weight)
"""Runs of models: the one with most batches or steps is shown, of several such runs the slowest."""

ROUNDS = Rules(_round_contains, _round_weight)
"""Rounds of histories: the one with most times is shown, of several such rounds the slowest."""


def rules_of(one: EntryVersion) -> Rules[EntryVersion]:
    """Return how versions of a run or round are compared."""
    return RUNS if one.is_run else ROUNDS


def samples(one: EntryVersion) -> int:
    """Return the number of batches or steps of a run, or of times of a round."""
    if one.is_run:
        return max((one.entry.get(name) or 0 for name in model_run_fields.SAMPLES), default=0)
    return sum(1 for _ in _times(one))


def seconds(one: EntryVersion) -> float | None:
    """Return the seconds of a run; the median of the anchor's in a round, None for none."""
    if one.is_run:
        found: float = one.entry[model_run_fields.NEEDED[one.entry["kind"]]]
        return found
    times = [each for each in one.entry["seconds"].get(one.entry["anchor"], ()) if each is not None]
    return sorted(times)[len(times) // 2] if times else None


def _times(one: EntryVersion) -> Iterable[float]:
    columns = one.entry["seconds"].values()
    return (each for column in columns for each in column if each is not None)


@dataclass(frozen=True)
class ShownEntries:
    """Content of a file with runs or rounds: facts of the rounds, and the lines by their key."""

    path: Path
    facts: FactsByDigest
    versions: dict[EntryKey, EntryVersion]

    @classmethod
    def read(cls, machine: Path, file: str) -> "ShownEntries":
        """Return the content of a file in a machine's folder.

        Raises DeepbenchError for a damaged one.
        """
        path = machine / file
        if file == model_run_fields.FILE:
            stored = RoundsFile({}, model_runs.load(machine))
        else:
            stored = ensemble_round_files.load(path)
        every = [EntryVersion(file, entry) for entry in stored.entries]
        return cls(path, stored.facts, {one.key: one for one in every})

    def write(
        self, chosen: Mapping[EntryKey, EntryVersion], facts: FactsByDigest, ready: Ready
    ) -> None:
        """Write other versions of some lines. facts: of all that these name."""
        entries = [one.entry for one in {**self.versions, **chosen}.values()]
        if self.path.name == model_run_fields.FILE:
            runs = sorted(entries, key=model_run_fields.order)
            atomic_write.write_text(ready(self.path), json_lines.as_text(runs))
            return
        lines = RoundsFile(dict(facts), entries)
        found = ensemble_round_files.merged(RoundsFile(dict(self.facts), []), lines)
        ensemble_round_files.write(ready(self.path), found)


def accept(
    machine: Path,
    sent: Iterable[EntryVersion],
    facts: FactsByDigest,
    ready: Ready,
    signed: SignedVersions,
) -> int:
    """Merge runs and rounds into those of a machine's folder; return how many files that changed.

    facts: of all that rounds name. signed: the versions of the machine that are signed, also those
    of this submission. Raises DeepbenchError for a damaged file.
    """
    filed = entry_conflict_files.load(machine)
    facts = {**filed.facts, **facts}
    by_file: dict[str, dict[EntryKey, list[EntryVersion]]] = defaultdict(lambda: defaultdict(list))
    for one in sent:
        by_file[one.file][one.key].append(one)
    versions, changed = dict(filed.versions), 0
    for file, coming in by_file.items():
        stored, chosen = ShownEntries.read(machine, file), {}
        facts = {**facts, **stored.facts}
        for key, several in coming.items():
            present = stored.versions.get(key)
            every = [*versions.get(key, ()), *([present] if present else []), *several]
            if present and all(one.text == present.text for one in every):
                continue
            rules = rules_of(every[0])
            found = rules.merged(signed.marked(stored.path, every))
            best = rules.shown(found)
            if best and (present is None or best.text != present.text):
                chosen[key] = best
            versions.pop(key, None)
            if len(found) > 1:
                versions[key] = found
        if chosen:
            stored.write(chosen, facts, ready)
            changed += 1
    if versions == filed.versions:
        return changed
    entry_conflict_files.write(machine, EntryConflicts(facts, versions), ready)
    return changed + 1


def demand_whole(machine: Path, files: Iterable[str]) -> None:
    """Raise DeepbenchError for a damaged file among those that runs and rounds are merged with."""
    entry_conflict_files.load(machine)
    for file in files:
        if file == model_run_fields.FILE:
            model_runs.load(machine)
        elif (machine / file).exists():
            ensemble_round_files.demand_whole(machine / file)


def as_sent(ensembles: Mapping[str, Any], runs: Iterable[Any]) -> list[EntryVersion]:
    """Return the rounds and runs of a submission as versions."""
    rounds = [
        EntryVersion(ensemble_round_files.file_name(name), entry)
        for name, each in ensembles.items()
        for entry in each["rounds"]
    ]
    return [*rounds, *(EntryVersion(model_run_fields.FILE, run) for run in runs)]
