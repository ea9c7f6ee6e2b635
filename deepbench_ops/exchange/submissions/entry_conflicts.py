"""Runs of models and rounds of histories for which different numbers were sent."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from deepbench_ops import damage_reports
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange.submissions import entry_merging
from deepbench_ops.exchange.submissions.entry_merging import ShownEntries
from deepbench_ops.exchange.submissions.signed_versions import SignedVersions
from deepbench_ops.storage import (
    ensemble_round_files,
    entry_conflict_files,
    model_run_fields,
    model_runs,
)
from deepbench_ops.storage.atomic_write import Ready
from deepbench_ops.storage.ensemble_round_files import Entry
from deepbench_ops.storage.entry_conflict_files import EntryConflicts, EntryKey, EntryVersion


@dataclass(frozen=True)
class EntryConflict:
    """A run or round of a machine with several versions that were not rejected.

    path: the file that shows one. every: all versions, also rejected ones. shown: the id of the one
    in the file, "" where it has none.
    """

    path: Path
    every: tuple[EntryVersion, ...]
    shown: str

    @property
    def machine(self) -> Path:
        """The machine's folder of results."""
        return self.path.parents[len(Path(self.every[0].file).parts) - 1]

    @property
    def versions(self) -> tuple[EntryVersion, ...]:
        """The versions to choose from."""
        return tuple(one for one in self.every if not one.rejected)

    @property
    def release(self) -> str:
        """The release of a run, or the anchor of a round."""
        return str(self.every[0].entry["release" if self.every[0].is_run else "anchor"])

    @property
    def key(self) -> tuple[str, tuple[str, ...]]:
        """The subject and the conditions, as the kernel and parameters of a point."""
        entry = self.every[0].entry
        if not self.every[0].is_run:
            family, problem, precision, operation = ensemble_round_files.kernel_of(entry)
            return f"round of {family} {operation}", (problem, precision, entry["round"])
        asked = {**model_run_fields.FORMERLY, **entry}
        asked["launcher"] = dict(entry.get("conditions") or {}).get(model_run_fields.LAUNCHER)
        names = [*model_run_fields.ASKED[entry["kind"]], "launcher"]
        params = [
            f"{name} {asked[name]}"
            for name in names
            if name not in ("model", "release") and asked[name] not in (None, False)
        ]
        return f"{entry['kind']} of {entry['model']}", tuple(params)

    @property
    def name(self) -> str:
        """Release, subject and conditions, for messages."""
        return f"{self.release} {self.key[0]}({', '.join(self.key[1])})"


def of_machine(machine: Path) -> list[EntryConflict]:
    """Return the open conflicts in a machine's folder of results, by file, run and round.

    Raises DeepbenchError for a damaged file.
    """
    filed = entry_conflict_files.load(machine).versions
    signed = SignedVersions.of(machine) if filed else SignedVersions()
    shown = {file: ShownEntries.read(machine, file) for file in sorted({key.file for key in filed})}
    found = []
    for key, versions in filed.items():
        path, present = machine / key.file, shown[key.file].versions.get(key)
        several = signed.marked(path, [*versions, *([present] if present else [])])
        every = entry_merging.rules_of(versions[0]).merged(several)
        one = EntryConflict(path, tuple(every), present.id if present else "")
        found += [one] if len(one.versions) > 1 else []
    return sorted(found, key=lambda one: (one.path.name, one.key, one.every[0].text))


def run_seconds(conflicts: Iterable[EntryConflict]) -> dict[Hashable, tuple[float, ...]]:
    """Return the seconds of all versions of the runs among open conflicts, by the run's key."""
    found: dict[Hashable, tuple[float, ...]] = {}
    for one in conflicts:
        if one.every[0].is_run:
            several = [entry_merging.seconds(each) for each in one.versions]
            found[one.every[0].key.identity] = tuple(sorted(filter(None, several)))
    return found


def remark(conflicts: Sequence[EntryConflict], of_runs: bool) -> list[str]:
    """Return a line about the runs of models, or the rounds, among a machine's open conflicts; none
    without any."""
    found = [one for one in conflicts if one.every[0].is_run is of_runs]
    if not found:
        return []
    name, noun = found[0].machine.name, "model run" if of_runs else "round"
    return [
        f"{name}: {len(found)} {noun}{'' if len(found) == 1 else 's'} with different numbers, one"
        f" of each is {'shown' if of_runs else 'used'}: deepbench conflicts --machine {name} lists"
        " them"
    ]


def remarks(machines: Iterable[Path], of_runs: bool = False) -> Iterator[str]:
    """Yield the remark of each machine that has one; a damaged file is reported."""
    for machine in machines:
        try:
            yield from remark(of_machine(machine), of_runs)
        except DeepbenchError as wrong:
            damage_reports.report(str(wrong))


def choose(pairs: Sequence[tuple[EntryConflict, EntryVersion]], ready: Ready) -> None:
    """Show the chosen version of each conflict, and reject the others, which stay on file.

    ready: as `atomic_write.together` gives it.
    """
    by_machine: dict[Path, dict[str, dict[EntryKey, EntryVersion]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    decided: dict[Path, dict[EntryKey, list[EntryVersion]]] = defaultdict(dict)
    for conflict, chosen in pairs:
        by_machine[conflict.machine][chosen.file][chosen.key] = chosen
        decided[conflict.machine][chosen.key] = [
            replace(one, rejected=one.id != chosen.id) for one in conflict.every
        ]
    for machine, files in by_machine.items():
        filed = entry_conflict_files.load(machine)
        facts = dict(filed.facts)
        for file, chosen_of in files.items():
            stored = ShownEntries.read(machine, file)
            facts |= stored.facts
            stored.write(chosen_of, facts, ready)
        content = EntryConflicts(facts, {**filed.versions, **decided[machine]})
        entry_conflict_files.write(machine, content, ready)


def packed_runs(machine: Path) -> list[Entry]:
    """Return the runs in a machine's folder, with all versions that no one has rejected.

    Raises DeepbenchError for a damaged file.
    """
    others = [one.entry for one in _others(machine) if one.is_run]
    return sorted([*model_runs.load(machine), *others], key=model_run_fields.order)


def packed_rounds(machine: Path) -> dict[str, Any]:
    """Return the rounds in a machine's folder by name of their file, with all versions that no one
    has rejected. Raises DeepbenchError for a damaged file."""
    found: dict[str, Any] = {}
    filed = entry_conflict_files.load(machine).facts
    others = list(_others(machine))
    for path in ensemble_round_files.paths(machine):
        name = ensemble_round_files.name_of(path)
        content = ensemble_round_files.load(path)
        further = [one for one in others if one.file == ensemble_round_files.file_name(name)]
        rounds = sorted(
            [*content.entries, *(one.entry for one in further)], key=ensemble_round_files.identity
        )
        used = {digest for one in further for digest in one.digests}
        facts = _of(used, filed) | content.facts
        found[name] = {"facts": dict(sorted(facts.items())), "rounds": rounds}
    return found


def _others(machine: Path) -> Iterator[EntryVersion]:
    """Yield the versions of open conflicts other than the shown ones."""
    for conflict in of_machine(machine):
        yield from (one for one in conflict.versions if one.id != conflict.shown)


def _of(digests: Iterable[str], facts: Mapping[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    return {digest: facts[digest] for digest in digests if digest in facts}
