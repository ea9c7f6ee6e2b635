"""Files of conflicts: all versions of the points for which different numbers were sent.

``results/<machine>/<commit>-<env>.conflicts.jsonl.gz`` lies next to a result that has such points.
It is one JSON object a line: conditions as ``{"fingerprint": digest, "facts": {...}}``, and a line
for each version of a point, also for the one that the result shows, with its raw seconds and
whether it was rejected. Equal content makes equal bytes, whatever the order in which it came.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.storage import (
    atomic_write,
    bounded_read,
    compression,
    fact_lines,
    json_lines,
    record_checks,
    seconds_limits,
)
from deepbench_ops.storage.atomic_write import Ready
from deepbench_ops.storage.fact_lines import FactsByDigest
from deepbench_ops.storage.json_lines import DamagedLine
from deepbench_ops.storage.measurement_files import Record
from deepbench_ops.storage.result_key import ResultKey, unquoted

SUFFIX = ".conflicts.jsonl" + compression.ENDING

ID_LENGTH = 10
"""Hexadecimal digits of a version's id."""


@dataclass(frozen=True)
class PointVersion:
    """Numbers that were sent for a point: the point as a submission has it, and its raw seconds.

    rejected: whether the user chose another version. signer: the allowed signers of submissions
    with it, "" for none; the file does not hold them (`exchange.submissions.signed_versions`).
    """

    point: dict[str, Any]
    measurements: Sequence[Record] = ()
    rejected: bool = False
    signer: str = field(default="", compare=False)

    @cached_property
    def text(self) -> str:
        """Point and raw seconds as one text, equal exactly when they are."""
        records = sorted(json.dumps(each, sort_keys=True) for each in self.measurements)
        return json.dumps([self.point, records], sort_keys=True)

    @cached_property
    def id(self) -> str:
        """The name of the version on the command line."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:ID_LENGTH]

    @property
    def key(self) -> ResultKey:
        """Benchmark and parameters of the point, without asv's quotes."""
        return unquoted(self.point["benchmark"], self.point["params"])

    @property
    def seconds(self) -> float:
        """Seconds of one call."""
        found: float = self.point["seconds"]
        return found


VersionsByKey = dict[ResultKey, list[PointVersion]]


@dataclass(frozen=True)
class Conflicts:
    """Content of a file: conditions by their digest, and the versions of each point."""

    facts: FactsByDigest = field(default_factory=dict)
    versions: VersionsByKey = field(default_factory=dict)


def file_of(result: Path) -> Path:
    """Return the file of conflicts of an asv result file."""
    return result.with_name(result.name.removesuffix(".json") + SUFFIX)


def result_of(path: Path) -> Path:
    """Return the asv result file that a file of conflicts belongs to."""
    return path.with_name(path.name.removesuffix(SUFFIX) + ".json")


def paths(machine: Path) -> list[Path]:
    """Return the files of conflicts in a machine's folder of results."""
    return sorted(machine.glob(f"*{SUFFIX}"))


def load(path: Path) -> Conflicts:
    """Return the content of a file, nothing where there is none.

    Raises DeepbenchError, naming file and line, for a damaged one.
    """
    if not path.exists():
        return Conflicts()
    facts: FactsByDigest = {}
    versions: VersionsByKey = defaultdict(list)

    def take(entry: Any, _: bytes) -> None:
        point, records = entry["point"], entry["measurements"]
        if wrong := seconds_limits.why_not(point["seconds"], samples=point.get("samples")):
            raise DamagedLine(wrong)
        for record in records:
            record_checks.check(record)
            if record["fingerprint"] not in facts:
                raise DamagedLine(f"its conditions {record['fingerprint']} are missing")
        found = PointVersion(point, records, entry["rejected"] is True)
        versions[found.key].append(found)

    content = compression.unpack(path, bounded_read.RECORDS)
    fact_lines.take_each(content, str(path), "a version of a point", facts, take)
    return Conflicts(facts, dict(versions))


def write(path: Path, facts: FactsByDigest, versions: VersionsByKey, ready: Ready = Path) -> None:
    """Write the versions of points, whole or not at all; without any, no file is left.

    facts: of all conditions that their raw seconds name. ready: as `atomic_write.together` gives
    it. Raises DeepbenchError where such conditions are missing, and OSError.
    """
    every = [one for _, several in sorted(versions.items()) for one in sorted_by_text(several)]
    if not every:
        atomic_write.remove(path, ready)
        return
    used = {record["fingerprint"] for one in every for record in one.measurements}
    if lost := sorted(used - facts.keys()):
        raise DeepbenchError(f"{path}: the conditions {lost[0]} of raw seconds are missing")
    lines = [*fact_lines.lines(facts, used), *map(_line, every)]
    atomic_write.write_bytes(ready(path), compression.pack(json_lines.as_text(lines).encode()))


def sorted_by_text(versions: Iterable[PointVersion]) -> list[PointVersion]:
    """Return versions in an order that depends on their content alone."""
    return sorted(versions, key=lambda one: one.text)


def open_seconds(path: Path) -> dict[ResultKey, tuple[float, ...]]:
    """Return the seconds of all versions that no one has rejected, by point, where there are
    several. Raises DeepbenchError for a damaged file."""
    found = {}
    for key, versions in load(path).versions.items():
        still_open = sorted(one.seconds for one in to_choose_from(versions))
        if len(still_open) > 1:
            found[key] = tuple(still_open)
    return found


def to_choose_from(versions: Iterable[PointVersion]) -> tuple[PointVersion, ...]:
    """Return the versions that no one has rejected and that differ: one without raw seconds, as a
    table has it, is left out where another one has its seconds and samples."""
    still_open = [one for one in versions if not one.rejected]
    return tuple(one for one in still_open if not any(_repeats(one, each) for each in still_open))


def _repeats(one: PointVersion, other: PointVersion) -> bool:
    if one.measurements or not other.measurements or (one.signer and not other.signer):
        return False
    return one.seconds == other.seconds and one.point.get("samples") == other.point.get("samples")


def _line(one: PointVersion) -> dict[str, Any]:
    records = sorted(one.measurements, key=lambda each: json.dumps(each, sort_keys=True))
    sorted_records = [dict(sorted(each.items())) for each in records]
    point = dict(sorted(one.point.items()))
    return {"point": point, "measurements": sorted_records, "rejected": one.rejected}
