"""Files of conflicts of a machine: all versions of the runs of models, and of the rounds of
histories, for which different numbers were sent.

``results/<machine>/conflicts.jsonl.gz`` is one JSON object a line: conditions as ``{"fingerprint":
digest, "facts": {...}}``, and a line for each version, also for the one that is shown: the `file`
of the machine that it belongs to, its line there as `entry`, and whether it was `rejected`. Equal
content makes equal bytes, whatever the order in which it came. The versions of points are in files
next to their results (`conflict_files`).
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from deepbench_ops.storage import (
    atomic_write,
    bounded_read,
    compression,
    conflict_files,
    ensemble_round_checks,
    ensemble_round_files,
    fact_lines,
    json_lines,
    model_run_fields,
)
from deepbench_ops.storage.atomic_write import Ready
from deepbench_ops.storage.ensemble_round_files import Entry
from deepbench_ops.storage.fact_lines import FactsByDigest
from deepbench_ops.storage.json_lines import DamagedLine

FILE = "conflicts.jsonl" + compression.ENDING


class EntryKey(NamedTuple):
    """A run or a round: its file in the machine's folder, and conditions of the run, or kernel and
    id of the round."""

    file: str
    identity: Hashable


@dataclass(frozen=True)
class EntryVersion:
    """Numbers that were sent for a run of a model, or for a round of a history.

    file: where it is shown, below the machine's folder. rejected: whether the user chose another
    version. signer: as of `conflict_files.PointVersion`.
    """

    file: str
    entry: Entry
    rejected: bool = False
    signer: str = field(default="", compare=False)

    @cached_property
    def text(self) -> str:
        """The numbers as text, equal exactly when they are."""
        return ensemble_round_files.text(self.entry)

    @cached_property
    def id(self) -> str:
        """The name of the version on the command line."""
        named = f"{self.file}\n{self.text}"
        return hashlib.sha256(named.encode()).hexdigest()[: conflict_files.ID_LENGTH]

    @property
    def is_run(self) -> bool:
        """Whether it is a run of a model."""
        return self.file == model_run_fields.FILE

    @cached_property
    def key(self) -> EntryKey:
        """The run or round that it is a version of."""
        identity: Hashable = (
            model_run_fields.key(self.entry)
            if self.is_run
            else ensemble_round_files.identity(self.entry)
        )
        return EntryKey(self.file, identity)

    @property
    def processes(self) -> int:
        """Processes that measured it: the ranks of a run, or one for each release of a round."""
        return self.entry.get("ranks") or 1 if self.is_run else len(self.entry["seconds"])

    @property
    def digests(self) -> set[str]:
        """Digests of the facts that it names."""
        return set() if self.is_run else ensemble_round_files.digests(self.entry)


VersionsByKey = dict[EntryKey, list[EntryVersion]]


@dataclass(frozen=True)
class EntryConflicts:
    """Content of a file: facts by their digest, and the versions of each run and round."""

    facts: FactsByDigest = field(default_factory=dict)
    versions: VersionsByKey = field(default_factory=dict)


def load(machine: Path) -> EntryConflicts:
    """Return the content of the file in a machine's folder, nothing where there is none.

    Raises DeepbenchError, naming file and line, for a damaged one.
    """
    path = machine / FILE
    if not path.exists():
        return EntryConflicts()
    facts: FactsByDigest = {}
    versions: VersionsByKey = defaultdict(list)

    def take(entry: Any, _: bytes) -> None:
        found = EntryVersion(entry["file"], entry["entry"], entry["rejected"] is True)
        if found.is_run:
            if wrong := model_run_fields.why_not(found.entry):
                raise DamagedLine(wrong)
        elif not ensemble_round_files.is_file(found.file):
            raise DamagedLine(f"it is of {found.file!r}, no file of a machine")
        else:
            ensemble_round_checks.check(found.entry)
        versions[found.key].append(found)

    content = compression.unpack(path, bounded_read.RECORDS)
    fact_lines.take_each(content, str(path), "a version of a run or round", facts, take)
    return EntryConflicts(facts, dict(versions))


def write(machine: Path, content: EntryConflicts, ready: Ready = Path) -> None:
    """Write the versions of runs and rounds, whole or not at all; without any, no file is left.

    ready: as `atomic_write.together` gives it. Raises OSError.
    """
    path = machine / FILE
    every = sorted_by_text(one for several in content.versions.values() for one in several)
    if not every:
        atomic_write.remove(path, ready)
        return
    used = {digest for one in every for digest in one.digests} & content.facts.keys()
    lines = [*fact_lines.lines(content.facts, used), *map(_line, every)]
    atomic_write.write_bytes(ready(path), compression.pack(json_lines.as_text(lines).encode()))


def _line(one: EntryVersion) -> dict[str, Any]:
    return {"entry": json.loads(one.text), "file": one.file, "rejected": one.rejected}


def sorted_by_text(versions: Iterable[EntryVersion]) -> list[EntryVersion]:
    """Return versions in an order that depends on their content alone."""
    return sorted(versions, key=lambda one: (one.file, one.text))
