"""Files of the rounds of ensembles, next to the results that were derived from them.

``results/<machine>/ensembles/<name>.jsonl.gz`` holds the rounds that were measured on a machine
with all releases of a framework (`name`), or with several frameworks (`SEVERAL`). It is one JSON
object a line: conditions as ``{"fingerprint": digest, "facts": {...}}``, and a line for each kernel
and round. docs/reference/files.md describes the fields. Equal content makes equal bytes, whatever
the order in which it came: lines are sorted, and the compressed file holds no time.
"""

import json
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.storage import (
    atomic_write,
    bounded_read,
    compression,
    fact_lines,
    json_lines,
)
from deepbench_ops.storage.ensemble_round_checks import KERNEL, NoRound, check
from deepbench_ops.storage.fact_lines import FactsByDigest
from deepbench_ops.storage.file_state import FileState, state

FOLDER, SUFFIX = "ensembles", ".jsonl.gz"
SEVERAL = "frameworks"
"""Name of the ensembles that hold releases of several frameworks."""

Entry = dict[str, Any]
KernelFields = tuple[str, str, str, str]
"""Family, problem, precision and operation."""

RoundIdentity = tuple[KernelFields, str]
"""The identity of a line: its kernel and the id of its round."""

NOT_COMPARED = frozenset(("ended_at", "latencies", "reasons"))
"""Fields of a line that may be others in a longer record of the same round."""

_whole: dict[Path, FileState] = {}
"""The state of each file that was read to its end."""


@dataclass(frozen=True)
class RoundsFile:
    """Content of a file: conditions by their digest, and a line for each kernel and round."""

    facts: FactsByDigest
    entries: list[Entry]


def path_of(machine: Path, name: str) -> Path:
    """Return the path of the rounds of an ensemble, in a machine's folder of results."""
    return machine / file_name(name)


def file_name(name: str) -> str:
    """Return the path of the rounds of an ensemble, relative to a machine's folder."""
    return f"{FOLDER}/{name}{SUFFIX}"


def paths(machine: Path) -> list[Path]:
    """Return the files of rounds in a machine's folder of results."""
    return sorted((machine / FOLDER).glob(f"*{SUFFIX}"))


def is_file(name: str) -> bool:
    """Whether a name, relative to a machine's folder, is that of a file of rounds."""
    path = PurePosixPath(name)
    return path.parent.name == FOLDER == str(path.parent) and path.name.endswith(SUFFIX)


def name_of(path: Path) -> str:
    """Return the name of the ensembles whose rounds a file holds."""
    return path.name.removesuffix(SUFFIX)


def load(path: Path) -> RoundsFile:
    """Return the content of a file, nothing where there is none.

    Raises DeepbenchError naming file and line for text that is no such line.
    """
    if not path.exists():
        return RoundsFile({}, [])
    before = state(path)
    found = parse(compression.unpack(path, bounded_read.RECORDS), str(path))
    _whole[path.resolve()] = before
    return found


def demand_whole(path: Path) -> None:
    """Raise the error of `load` for a damaged file, without reading again a file that this process
    has read."""
    if _whole.get(path.resolve()) != state(path):
        load(path)


def parse(content: bytes, where: str) -> RoundsFile:
    """Return the content of a file's text; `where` names the file in errors.

    Raises DeepbenchError, naming the line, for one that is no round.
    """
    facts: FactsByDigest = {}
    found: dict[RoundIdentity, Entry] = {}

    def take(entry: Any, line: bytes) -> None:
        check(entry)
        if found.setdefault(identity(entry), entry) is not entry:
            raise NoRound("it is there already")

    fact_lines.take_each(content, where, "a round of an ensemble", facts, take)
    return RoundsFile(facts, list(found.values()))


def merged(stored: RoundsFile, new: RoundsFile, where: str = "stored rounds") -> RoundsFile:
    """Return two contents as one: of two lines of the same round the one that contains the other.

    where: the file of `stored`, for messages. Raises DeepbenchError for two lines of a round that
    differ, so that neither contains the other.
    """
    kept: dict[RoundIdentity, Entry] = {}
    different: dict[RoundIdentity, None] = {}
    for entry in [*stored.entries, *new.entries]:
        one = identity(entry)
        found = fuller(kept.setdefault(one, entry), entry)
        if found is None:
            different[one] = None
        else:
            kept[one] = found
    if different:
        kernel, named = next(iter(different))
        raise DeepbenchError(
            f"{where}: round {named} of {' '.join(kernel)} has other numbers there (rounds that"
            f" differ: {len(different)}): the stored ones stay"
        )
    entries = [kept[one] for one in sorted(kept)]
    used = {digest for entry in entries for digest in digests(entry)}
    facts = {**new.facts, **stored.facts}
    return RoundsFile({each: facts[each] for each in sorted(used & facts.keys())}, entries)


def write(path: Path, content: RoundsFile) -> None:
    """Write a file, whole or not at all. Raises OSError."""
    lines = [*fact_lines.lines(content.facts, content.facts), *content.entries]
    atomic_write.write_bytes(path, compression.pack(json_lines.as_text(lines).encode()))


def kernel_of(entry: Entry) -> KernelFields:
    """Return the kernel that a line is about."""
    family, problem, precision, operation = (entry[name] for name in KERNEL)
    return family, problem, precision, operation


def identity(entry: Entry) -> RoundIdentity:
    """Return the identity of a line."""
    return kernel_of(entry), entry["round"]


def digests(entry: Entry) -> set[str]:
    """Return the digests of the facts that a line names."""
    return {*entry.get("fingerprints", {}).values(), *entry.get("notes", {}).values()}


def fuller(one: Entry, other: Entry) -> Entry | None:
    """Return the line of a round that contains the other line; None where neither does.

    Of two that contain each other the one with the greater text.
    """
    if one == other:
        return one
    first, second = contains(one, other), contains(other, one)
    if first and second:
        return max(one, other, key=text)
    return one if first else other if second else None


def contains(more: Entry, less: Entry) -> bool:
    """Whether a line of a round has all numbers of another line."""
    return _has(more, {name: each for name, each in less.items() if name not in NOT_COMPARED})


def _has(more: Any, less: Any) -> bool:
    """Whether a value has all of another one: names of objects, beginnings of lists, and any value
    in place of null."""
    if isinstance(less, dict):
        return isinstance(more, dict) and all(
            name in more and _has(more[name], each) for name, each in less.items()
        )
    if isinstance(less, list):
        return isinstance(more, list) and len(less) <= len(more) and all(map(_has, more, less))
    return less is None or bool(more == less)


def text(entry: Entry) -> str:
    """Return a line as one text, equal exactly when it is."""
    return json.dumps(entry, sort_keys=True)
