"""The file next to every asv result: raw seconds, yardstick readings, conditions.

``results/<machine>/<commit>-<env>.measurements.jsonl.gz`` holds one JSON object a line: conditions
as ``{"fingerprint": digest, "facts": {...}}``, measurements that name their fingerprint, and
``{"benchmark": ..., "params": [...], "skipped": reason}`` for skipped kernels. It is
not called ``.json`` because asv takes every such file for a result.

Earlier versions wrote the same text uncompressed. Such a file is read, and stays uncompressed when
records are added; `compress` replaces it.
"""

import statistics
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import repeat
from pathlib import Path
from typing import Any

import orjson

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.statistics.yardstick_calibration import on_quiet_machine
from deepbench_ops.storage import (
    atomic_write,
    bounded_read,
    compression,
    fact_lines,
    facts_digest,
    json_lines,
    record_checks,
)
from deepbench_ops.storage.atomic_write import Ready
from deepbench_ops.storage.file_state import FileState, state
from deepbench_ops.storage.result_key import ResultKey

PLAIN = ".measurements.jsonl"
"""End of the names of uncompressed files."""
SUFFIX = PLAIN + compression.ENDING
Record = dict[str, Any]

RecordIdentity = tuple[str, tuple[str, ...], float]
"""The identity of a record: benchmark, parameters, and its start to the millisecond."""

_filed: set[tuple[Path, RecordIdentity]] = set()
"""Records that this process has filed, and where: those of its later rounds join them."""

_whole: dict[Path, tuple[FileState, dict[str, dict[str, str]]]] = {}
"""The state of each file that was read to its end, and its fingerprints by digest."""


def file_of(result: Path) -> Path:
    """Return the measurements' file of an asv result file: the compressed one, unless there is
    only an uncompressed one."""
    stem = result.name.removesuffix(".json")
    compressed, plain = (result.with_name(stem + suffix) for suffix in (SUFFIX, PLAIN))
    return plain if not compressed.exists() and plain.exists() else compressed


def is_file(path: Path) -> bool:
    """Return whether a path has the name of a file of measurements."""
    return path.name.endswith((SUFFIX, PLAIN))


def paths(machine: Path) -> list[Path]:
    """Return the files of measurements in a machine's folder of results, one for each result."""
    found = filter(is_file, machine.glob(f"*{PLAIN}*"))
    return sorted(path for path in found if path == file_of(result_of(path)))


def result_of(path: Path) -> Path:
    """Return the asv result file that a file of measurements belongs to."""
    return path.with_name(path.name.removesuffix(compression.ENDING).removesuffix(PLAIN) + ".json")


def content(path: Path) -> bytes:
    """Return the text of a file. Raises DeepbenchError for a damaged or very large one."""
    return compression.read_bytes(path, bounded_read.RECORDS)


def compress(path: Path) -> Path:
    """Replace an uncompressed file by a compressed one with the same text, and return its path.

    Raises DeepbenchError for a damaged file, which stays as it is, and where a compressed one with
    other text is there.
    """
    load(path)
    text, target = content(path), path.with_name(path.name + compression.ENDING)
    if target.exists() and content(target) != text:
        raise DeepbenchError(f"{target} holds other records than {path}: remove one of the two")
    atomic_write.write_bytes(target, compression.pack(text))
    if content(target) != text:
        raise DeepbenchError(f"{target} does not hold the text of {path}: remove it and try again")
    path.unlink()
    return target


def load(path: Path) -> tuple[dict[str, dict[str, str]], list[Record]]:
    """Return the fingerprints by digest, and the measurements in order.

    Raises DeepbenchError naming file and line for text that is not such a record.
    """
    before = state(path)
    facts: dict[str, dict[str, str]] = {}
    found: list[Record] = []
    lines: set[bytes] = set()

    def take(entry: Any, line: bytes) -> None:
        record_checks.check(entry)
        if line in lines and "skipped" not in entry:
            raise record_checks.NoRecord("it is there already")
        lines.add(line)
        found.append(entry)

    fact_lines.take_each(content(path), str(path), "a measurement", facts, take)
    named = {entry["fingerprint"] for entry in found if "skipped" not in entry}
    if lost := sorted(named - facts.keys()):
        raise DeepbenchError(
            f"{path}: no line has the conditions {lost[0]} that a measurement names; restore the"
            " file or remove the measurement"
        )
    _whole[path.resolve()] = before, dict(facts)
    return facts, found


def demand_whole(path: Path) -> None:
    """Raise the error of `load` for a broken file, without reading again a file that this process
    has read."""
    if _known_facts(path) is None:
        load(path)


def _known_facts(path: Path) -> dict[str, dict[str, str]] | None:
    """Return the fingerprints of a file that this process has read; None where it has not."""
    before, facts = _whole.get(path.resolve(), (None, None))
    return facts if before == state(path) else None


def facts(path: Path) -> dict[str, dict[str, str]]:
    """Return the fingerprints of a file by digest, reading only the lines that hold them.

    Raises DeepbenchError naming the file for a damaged one.
    """
    if (known := _known_facts(path)) is not None:
        return dict(known)
    found: dict[str, dict[str, str]] = {}

    def take(entry: Any, line: bytes) -> None:
        found[entry["fingerprint"]] = facts_digest.checked(entry)

    json_lines.take_each(
        content(path),
        str(path),
        "a line of conditions",
        take,
        orjson.loads,
        lambda line: line.startswith(b'{"fingerprint"'),
    )
    return found


def conditions(path: Path) -> dict[str, str]:
    """Return the conditions that all measurements of a file share; {} where it has none.

    Ranks of an all-reduce, processes of their own that load other libraries, are asked where there
    is nothing else.
    """
    found = list(facts(path).values())
    return shared_facts([each for each in found if "ranks" not in each] or found)


def shared_facts(several: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Return the facts that are the same in several fingerprints."""
    first = several[0] if several else {}
    return {name: text for name, text in first.items() if all(o.get(name) == text for o in several)}


def level(entry: Record) -> float:
    """Return the seconds that one process measured.

    The median of its calibrated seconds, or of raw ones where it had no yardstick or no nominal
    reading; of an ensemble's record the time that its rounds agree on.
    """
    if "ensemble" in entry:
        return float(entry["ensemble"]["seconds"])
    if not entry["yardstick"] or not entry.get("nominal"):
        return statistics.median(entry["seconds"])
    nominal = float(entry["nominal"])
    calibrated = map(on_quiet_machine, entry["seconds"], entry["yardstick"], repeat(nominal))
    return statistics.median(calibrated)


def levels(entry: Record) -> tuple[float, ...]:
    """Return the seconds that each of a record's processes measured.

    An ensemble's record holds those of all its rounds.
    """
    return tuple(entry["seconds"]) if "ensemble" in entry else (level(entry),)


def add(
    path: Path, records: Iterable[Record], appending: bool = False, ready: Ready = Path
) -> None:
    """File new records.

    Those of a kernel that was measured again replace its records of earlier runs, unless asv itself
    is appending samples to the earlier ones. A record of an ensemble holds all of its rounds, so it
    always replaces. A skip or a quick look replaces only its like. A record that the file holds
    already stays there once.
    ready: as `atomic_write.together` gives it, where other files are to be replaced with this one.
    """
    facts, kept = load(path) if path.exists() else ({}, [])
    measured = {_key(entry) for entry in kept if not is_less(entry)}
    records = list(_once(entry for entry in records if not _idle(entry, measured)))
    if not records:
        return
    renewed = {_key(entry) for entry in records}
    coming = {_identity(entry) for entry in records}
    complete = {_key(entry) for entry in records if "ensemble" in entry}

    def stays(entry: Record) -> bool:
        if _key(entry) not in renewed:
            return True
        if _key(entry) in complete or is_less(entry):
            return False
        joins = appending or (path, _identity(entry)) in _filed
        return joins and _identity(entry) not in coming

    kept = [entry for entry in kept if stays(entry)]
    for entry in records:
        if "skipped" not in entry:
            conditions = entry["fingerprint"]
            digest = facts_digest.digest(conditions)
            facts[digest] = conditions
            entry = {**entry, "fingerprint": digest}
        kept.append(entry)
    write(path, facts, kept, ready)
    _filed.update((path, identity) for identity in coming)


def remove(path: Path, benchmarks: Collection[str], ready: Ready = Path) -> None:
    """Remove the records of benchmarks, and a file without any other.

    ready: as for `add`. Raises DeepbenchError for a damaged file.
    """
    if not path.exists():
        return
    facts, entries = load(path)
    kept = [entry for entry in entries if entry["benchmark"] not in benchmarks]
    if not kept:
        atomic_write.remove(path, ready)
    elif len(kept) < len(entries):
        write(path, facts, kept, ready)


def is_of_this_run(result: Path, entry: Record) -> bool:
    """Whether this process has filed a record of an asv result file."""
    return (file_of(result), _identity(entry)) in _filed


def write(
    path: Path,
    facts: Mapping[str, dict[str, str]],
    entries: Sequence[Record],
    ready: Ready = Path,
) -> None:
    """Write a file, whole or not at all; of the fingerprints those that entries name.

    ready: as for `add`.
    """
    used = {entry["fingerprint"] for entry in entries if "skipped" not in entry}
    text = json_lines.as_text([*fact_lines.lines(facts, used), *entries]).encode()
    compressed = path.name.endswith(compression.ENDING)
    atomic_write.write_bytes(ready(path), compression.pack(text) if compressed else text)


def _idle(entry: Record, measured: set[ResultKey]) -> bool:
    return is_less(entry) and _key(entry) in measured


def is_less(entry: Record) -> bool:
    """Return whether a record is a skip or of a quick run, which replace no other record."""
    return "skipped" in entry or "quick" in entry


def _once(records: Iterable[Record]) -> Iterable[Record]:
    """Drop all but the first skip of a kernel: every round skips it again."""
    seen = set()
    for entry in records:
        if "skipped" in entry:
            if _key(entry) in seen:
                continue
            seen.add(_key(entry))
        yield entry


def _identity(entry: Record) -> RecordIdentity:
    return (*_key(entry), entry["started_at"])


def _key(entry: Record) -> ResultKey:
    return entry["benchmark"], tuple(entry["params"])
