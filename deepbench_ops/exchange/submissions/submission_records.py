"""Raw seconds of a submission: the records of measurements next to a result's points.

A point and its records are one thing: after merging, a point has the records that came with it,
never a mixture of two machines' days.
"""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.storage import atomic_write, facts_digest, measurement_files, record_checks
from deepbench_ops.storage.atomic_write import Ready
from deepbench_ops.storage.conflict_files import PointVersion
from deepbench_ops.storage.fact_lines import FactsByDigest
from deepbench_ops.storage.measurement_files import Record
from deepbench_ops.storage.result_key import ResultKey, unquoted

OTHERS = "other_versions"
"""Field of a submitted result with further versions of its points."""


def by_point(records: Iterable[Record]) -> dict[ResultKey, list[Record]]:
    """Return records by the point that they are of, without the skips."""
    found: dict[ResultKey, list[Record]] = defaultdict(list)
    for record in records:
        if "skipped" not in record:
            found[unquoted(record["benchmark"], record["params"])].append(record)
    return found


def versions(result: Mapping[str, Any]) -> Iterator[PointVersion]:
    """Yield the versions of points in a submitted result: each of its points, then other versions
    of some of them, with their records."""
    sent = by_point(result.get("measurements", ()))
    for point in result["points"]:
        yield PointVersion(point, sent.get(unquoted(point["benchmark"], point["params"]), []))
    for other in result.get(OTHERS, ()):
        yield PointVersion(other["point"], other["measurements"])


def load(path: Path) -> tuple[dict[str, dict[str, str]], list[Record]]:
    """Return the fingerprints and records of a file of measurements, none where there is none."""
    return measurement_files.load(path) if path.exists() else ({}, [])


def check(result: Mapping[str, Any]) -> None:
    """Raise DeepbenchError for records that do not belong to a submitted result."""
    conditions = result.get("conditions", {})
    for digest, facts in conditions.items():
        if facts_digest.digest(facts) != digest:
            raise DeepbenchError(f"conditions {digest}: they are other conditions")
    points = {unquoted(point["benchmark"], point["params"]) for point in result["points"]}
    _check_records(result, result.get("measurements", ()), points)
    for other in result.get(OTHERS, ()):
        key = unquoted(other["point"]["benchmark"], other["point"]["params"])
        _check_records(result, other["measurements"], {key})


def _check_records(
    result: Mapping[str, Any], records: Iterable[Record], points: Collection[ResultKey]
) -> None:
    """Raise DeepbenchError for records that do not belong to a result with these points, and for
    those that no reader of stored files would take."""
    conditions = result.get("conditions", {})
    seen: set[str] = set()
    for record in records:
        key = unquoted(record["benchmark"], record["params"])
        named = f"a measurement of {key[0]}({', '.join(key[1])})"
        try:
            record_checks.check(record)
        except record_checks.NoRecord as wrong:
            raise DeepbenchError(f"{named}: {wrong}") from None
        if text([record]) in seen:
            raise DeepbenchError(f"{named}: it is there twice")
        seen.add(text([record]))
        if key not in points:
            raise DeepbenchError(f"{named}: the submission has no result of it")
        if record["release"] != f"{result['framework']}-{result['release']}":
            raise DeepbenchError(f"{named}: it is of {record['release']}, another release")
        if record["fingerprint"] not in conditions:
            raise DeepbenchError(f"{named}: its conditions {record['fingerprint']} are missing")


def write(
    path: Path, facts: FactsByDigest, new: Mapping[ResultKey, list[Record]], ready: Ready
) -> bool:
    """Replace the records of some points, by time; return whether that changes the file.

    It is replaced with the other files of `ready`, as `atomic_write.together` gives it.

    Other records of the file stay; without any there is no file. A skip gives way to the
    records of its kernel. The fields of new records are sorted, as in a file of conflicts: the
    bytes do not depend on the file that they come from.
    """
    known, present = load(path)
    kept = [each for each in present if unquoted(each["benchmark"], each["params"]) not in new]
    brought = [dict(sorted(each.items())) for several in new.values() for each in several]
    entries = sorted([*kept, *brought], key=_place)
    if text(present) == text(entries):
        return False
    if entries:
        measurement_files.write(path, {**known, **facts}, entries, ready)
    else:
        atomic_write.remove(path, ready)
    return True


def text(records: Iterable[Record]) -> str:
    """Return records as one text, equal exactly when they are."""
    return json.dumps(sorted(records, key=_place), sort_keys=True)


def _place(record: Record) -> tuple[float, str]:
    return record.get("started_at", 0.0), json.dumps(record, sort_keys=True)
