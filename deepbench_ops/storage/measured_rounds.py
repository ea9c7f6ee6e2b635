"""Rounds of ensembles that were measured here, filed next to the results."""

from collections.abc import Iterable
from pathlib import Path

from deepbench_ops.storage import ensemble_round_files, entry_conflict_files, locks
from deepbench_ops.storage.atomic_write import Ready
from deepbench_ops.storage.ensemble_round_files import Entry, RoundsFile
from deepbench_ops.storage.entry_conflict_files import EntryConflicts, EntryVersion
from deepbench_ops.storage.fact_lines import FactsByDigest


def add(
    path: Path, facts: FactsByDigest, entries: Iterable[Entry], ready: Ready = Path
) -> RoundsFile:
    """Add rounds to a file and return all that it holds; one that adds nothing is not written.

    Where a round differs from the stored one, so that neither contains the other, the stored one
    stays, and both are in the machine's file of conflicts, as where both were sent. ready: as
    `atomic_write.together` gives it, where other files are to be replaced with these. Raises
    DeepbenchError for a damaged file, and OSError; the files stay as they are then.
    """
    machine = path.parents[1]
    file = ensemble_round_files.file_name(ensemble_round_files.name_of(path))
    with locks.results(machine.parent, doing=f"writing {path}"):
        stored, filed = ensemble_round_files.load(path), entry_conflict_files.load(machine)
        before = ensemble_round_files.merged(stored, RoundsFile({}, []))
        shown = {ensemble_round_files.identity(each): each for each in before.entries}
        versions = dict(filed.versions)
        for entry in entries:
            new = EntryVersion(file, entry)
            known = shown.setdefault(ensemble_round_files.identity(entry), entry)
            found = ensemble_round_files.fuller(known, entry)
            if found is None or new.key in versions:
                kept = [*versions.get(new.key, ()), EntryVersion(file, known)]
                versions[new.key] = _with(kept, new)
            shown[ensemble_round_files.identity(entry)] = found or known
        every = RoundsFile({**facts, **stored.facts}, list(shown.values()))
        after = ensemble_round_files.merged(RoundsFile({}, []), every)
        if after != before or not path.exists():
            ensemble_round_files.write(ready(path), after)
        if versions != filed.versions:
            content = EntryConflicts({**filed.facts, **every.facts}, versions)
            entry_conflict_files.write(machine, content, ready)
        return after


def _with(kept: Iterable[EntryVersion], new: EntryVersion) -> list[EntryVersion]:
    """Return versions of a round each once, and a new one unless one of them contains it."""
    each_once: dict[str, EntryVersion] = {}
    for one in kept:
        each_once.setdefault(one.text, one)
    if not any(ensemble_round_files.contains(one.entry, new.entry) for one in each_once.values()):
        each_once[new.text] = new
    return entry_conflict_files.sorted_by_text(each_once.values())
