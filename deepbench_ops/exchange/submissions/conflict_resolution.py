"""Points of a machine for which different numbers were sent, and the user's choice among them and
among those of runs and rounds (`entry_conflicts`)."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange.submissions import entry_conflicts, shown_version
from deepbench_ops.exchange.submissions.entry_conflicts import EntryConflict
from deepbench_ops.exchange.submissions.shown_version import V
from deepbench_ops.exchange.submissions.signed_versions import SignedVersions
from deepbench_ops.exchange.submissions.submission_merging import (
    StoredResult,
    key_of,
    shown_of,
)
from deepbench_ops.releases.release_table import Release
from deepbench_ops.storage import atomic_write, conflict_files
from deepbench_ops.storage.conflict_files import PointVersion, VersionsByKey
from deepbench_ops.storage.entry_conflict_files import EntryVersion
from deepbench_ops.storage.result_key import ResultKey

SHOWN = "shown"
"""Chooses the version that the result shows, in place of an id."""


@dataclass(frozen=True)
class Conflict:
    """A point of a result file with several versions that were not rejected.

    release: its name, or the start of the commit that no release of the table has. key: without
    asv's quotes. every: all versions, also rejected ones. shown: the id of the version in the
    result file, "" where it has no time of the point.
    """

    path: Path
    release: str
    key: ResultKey
    every: tuple[PointVersion, ...]
    shown: str

    @property
    def machine(self) -> Path:
        """The machine's folder of results."""
        return self.path.parent

    @property
    def versions(self) -> tuple[PointVersion, ...]:
        """The versions to choose from."""
        return conflict_files.to_choose_from(self.every)

    @property
    def name(self) -> str:
        """Release, benchmark and parameters, for messages."""
        return f"{self.release} {self.key[0]}({', '.join(self.key[1])})"


def of_machine(machine: Path, releases: Collection[Release]) -> list[Conflict]:
    """Return the open conflicts in a machine's folder of results, by file and point.

    Raises DeepbenchError for a damaged file.
    """
    names = {release.hash: release.name for release in releases}
    found = []
    signed = SignedVersions.of(machine)
    for file in conflict_files.paths(machine):
        path = conflict_files.result_of(file)
        if not path.exists():
            continue
        stored = StoredResult.read(path)
        commit = str(stored.filed.commit_hash)
        filed = conflict_files.load(file)
        found += of_result(stored, filed.versions, names.get(commit, commit[:8]), signed)
    return found


def of_result(
    stored: StoredResult, filed: VersionsByKey, release: str, signed: SignedVersions
) -> list[Conflict]:
    """Return the open conflicts of a result, by point.

    filed: the versions in its file of conflicts. release: its name, for messages. signed: those of
    the machine.
    """
    found = []
    for key, versions in sorted(filed.items()):
        present = stored.version(key_of(versions[0].point))
        present = present and shown_of(present, versions)
        several = signed.marked(stored.path, [*versions, *([present] if present else [])])
        every = shown_version.POINTS.merged(several)
        one = Conflict(stored.path, release, key, tuple(every), present.id if present else "")
        found += [one] if len(one.versions) > 1 else []
    return found


def resolve(conflicts: Sequence[Conflict | EntryConflict], ids: Collection[str]) -> int:
    """Show the chosen version of each conflict that has one, reject the others, and return how many
    conflicts were resolved. The versions stay in the file of conflicts.

    conflicts: as they are in the files. ids: of versions, or `SHOWN`. For the process that holds
    the lock of the results. Raises DeepbenchError for an id that no conflict has, and for two
    versions of one point; nothing is changed then.
    """
    known = {one.id for conflict in conflicts for one in conflict.versions}
    if strange := sorted({*ids} - known - {SHOWN}):
        raise DeepbenchError(
            f"no open conflict has a version {strange[0]}: deepbench conflicts lists them"
        )
    by_file: dict[Path, list[tuple[Conflict, PointVersion]]] = defaultdict(list)
    entries: list[tuple[EntryConflict, EntryVersion]] = []
    for conflict in conflicts:
        if isinstance(conflict, EntryConflict):
            if version := _chosen(conflict.name, conflict.versions, conflict.shown, ids):
                entries.append((conflict, version))
        elif chosen := _chosen(conflict.name, conflict.versions, conflict.shown, ids):
            by_file[conflict.path].append((conflict, chosen))
    with atomic_write.together() as ready:
        entry_conflicts.choose(entries, ready)
        for path, pairs in by_file.items():
            stored, file = StoredResult.read(path), conflict_files.file_of(path)
            filed = conflict_files.load(file)
            facts = {**filed.facts, **stored.facts}
            stored.write({key_of(one.point): one for _, one in pairs}, facts, ready)
            decided = {
                each.key: [replace(other, rejected=other.id != one.id) for other in each.every]
                for each, one in pairs
            }
            conflict_files.write(file, facts, {**filed.versions, **decided}, ready)
    return len(entries) + sum(map(len, by_file.values()))


def _chosen(name: str, versions: Sequence[V], shown: str, ids: Collection[str]) -> V | None:
    """Return the chosen version of a conflict; None where none was."""
    found = [one for one in versions if one.id in ids]
    if len(found) > 1:
        both = " and ".join(one.id for one in found)
        raise DeepbenchError(f"{name}: {both} are versions of it: choose one")
    if not found and SHOWN in ids:
        found = [one for one in versions if one.id == shown]
    return found[0] if found else None
