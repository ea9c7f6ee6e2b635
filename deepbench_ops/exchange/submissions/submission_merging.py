"""Merge of submitted results with the stored ones: in any order, however often, and in parts.

Of several versions of a point the result file shows one; all of them are kept in a file of
conflicts (`storage.conflict_files`) until the user chooses.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from deepbench_ops.asv_adapter import private_result_fields, result_files
from deepbench_ops.asv_adapter.private_result_fields import Results
from deepbench_ops.asv_adapter.published_results import merged_stack
from deepbench_ops.exchange.submissions import (
    shown_version,
    signed_versions,
    submission_records,
)
from deepbench_ops.exchange.submissions.signed_versions import SignedVersions
from deepbench_ops.exchange.submissions.submission_checks import Point
from deepbench_ops.releases.release_table import Release
from deepbench_ops.statistics.median_interval import log_interval
from deepbench_ops.storage import conflict_files, measurement_files
from deepbench_ops.storage.atomic_write import Ready
from deepbench_ops.storage.conflict_files import PointVersion
from deepbench_ops.storage.fact_lines import FactsByDigest
from deepbench_ops.storage.measurement_files import Record
from deepbench_ops.storage.result_key import ResultKey, unquoted


def merge(
    results: Path,
    result: dict[str, Any],
    empty: Results,
    ready: Ready,
    signed: SignedVersions,
) -> bool:
    """Merge a submitted result with the stored one, `empty` where there is none; return whether
    that changed anything.

    signed: the versions of the machine's points that are signed, also those of this submission.
    """
    path = results / private_result_fields.path_of(empty)
    stored = StoredResult.read(path, empty)
    conflicts = conflict_files.load(conflict_files.file_of(path))
    sent: dict[ResultKey, list[PointVersion]] = defaultdict(list)
    for one in _versions(result):
        sent[key_of(one.point)].append(one)
    chosen, versions = {}, dict(conflicts.versions)
    for key, coming in sent.items():
        present, of = stored.version(key), unquoted(*key)
        if present is None and of not in versions and len(coming) == 1:
            [chosen[key]] = coming
            continue
        filed = versions.pop(of, [])
        here = [shown_of(present, filed)] if present else []
        every = signed.marked(path, [*filed, *here, *coming])
        found = shown_version.POINTS.merged(every)
        best = shown_version.POINTS.shown(found)
        if best and (present is None or best.text != present.text):
            chosen[key] = best
        if len(found) > 1:
            versions[of] = found
    facts = {**conflicts.facts, **stored.facts, **result.get("conditions", {})}
    known = private_result_fields.libraries(stored.filed)
    libraries = merged_stack(known, result["libraries"])
    if libraries != known:
        private_result_fields.set_libraries(stored.filed, libraries)
    changed = stored.write(chosen, facts, ready, also=libraries != known)
    if versions == conflicts.versions:
        return changed
    # Replaced before the result, which may lose a version that nothing else holds.
    conflict_files.write(conflict_files.file_of(path), facts, versions, ready)
    return True


def shown_of(present: PointVersion, filed: Sequence[PointVersion]) -> PointVersion:
    """Return the version of a point that a result shows, given the versions in its file of
    conflicts.

    present: the stored point with its raw seconds. They belong together unless an import or a
    choice was killed, which replaces the file of conflicts, then the result, then the raw seconds:
    where the file of conflicts has the point with other raw seconds, and these with another point,
    the version that it has of the point.
    """
    if any(one.text == present.text for one in filed):
        return present
    own = shown_version.raw_seconds(present)
    others = [one for one in filed if one.point != present.point]
    if not any(own <= shown_version.raw_seconds(one) for one in others):
        return present
    same = [one for one in filed if one.point == present.point]
    return shown_version.POINTS.shown(same) or present


def version_ids(result: dict[str, Any], empty: Results) -> Iterator[str]:
    """Yield the ids by which the versions of points in a submitted result are noted as signed."""
    path = private_result_fields.path_of(empty)
    return (signed_versions.id_of(path, one.text) for one in _versions(result))


def short_ids(result: dict[str, Any]) -> Iterator[str]:
    """Yield the ids by which conflicts name the versions of points in a submitted result."""
    return (one.id for one in _versions(result))


def _versions(result: dict[str, Any]) -> Iterator[PointVersion]:
    for one in submission_records.versions(result):
        yield PointVersion(as_stored(one.point), one.measurements)


@dataclass(frozen=True)
class StoredResult:
    """A result file with the records next to it.

    points: by key as asv writes it. records: by plain key. facts: of their conditions.
    """

    path: Path
    filed: Results
    points: dict[ResultKey, Point]
    records: Mapping[ResultKey, list[Record]]
    facts: FactsByDigest

    @classmethod
    def read(cls, path: Path, empty: Results | None = None) -> "StoredResult":
        """Return the content of a result file, or that of `empty` where there is none.

        Raises DeepbenchError for a damaged file.
        """
        filed = empty if empty is not None and not path.exists() else result_files.undamaged(path)
        facts, records = submission_records.load(measurement_files.file_of(path))
        return cls(path, filed, points_of(filed), submission_records.by_point(records), facts)

    def version(self, key: ResultKey) -> PointVersion | None:
        """Return the version of a point that the file shows; None where it shows none."""
        point = self.points.get(key)
        return None if point is None else PointVersion(point, self.records.get(unquoted(*key), []))

    def write(
        self,
        chosen: Mapping[ResultKey, PointVersion],
        facts: FactsByDigest,
        ready: Ready,
        also: bool = False,
    ) -> bool:
        """Write other versions of some points, with their raw seconds; return whether a file
        changes.

        facts: of all conditions that these name. also: whether the result changed otherwise.
        """
        brought = {unquoted(*key): list(one.measurements) for key, one in chosen.items()}
        file = measurement_files.file_of(self.path)
        renewed = submission_records.write(file, facts, brought, ready)
        after = {**self.points, **{key: one.point for key, one in chosen.items()}}
        changed = after != self.points or also
        if changed:
            _write(ready(self.path), self.filed, self.points, after)
        return renewed or changed


def as_stored(point: Point) -> Point:
    """Return a point as asv keeps it: bounds to five digits, made of its samples."""
    plain = {name: value for name, value in point.items() if name not in ("low", "high")}
    plain["seconds"] = float(point["seconds"])
    if "samples" in point:
        plain["samples"] = [float(each) for each in point["samples"]]
    bounds = log_interval(plain.get("samples"))
    if bounds is not None:
        plain["low"], plain["high"] = map(private_result_fields.as_stored, bounds)
    return plain


def points_of(filed: Results) -> dict[ResultKey, Point]:
    """Return the points of a result, by their key as asv writes it."""
    found: dict[ResultKey, Point] = {}
    for one in private_result_fields.each(filed):
        point: Point = {"benchmark": one.name, "params": list(one.key), "seconds": one.value}
        if one.samples:
            point["samples"] = list(one.samples)
        found[key_of(point)] = as_stored(point)
    return found


def empty_result(machine: dict[str, str], release: Release, result: dict[str, Any]) -> Results:
    """Return a result file of asv's without times."""
    python = "3" if release.measurable else ""
    about = (release.hash, release.milliseconds, python)
    of_run = (result["environment"], result["variables"])
    libraries = dict(sorted(merged_stack(result["libraries"], result["libraries"]).items()))
    return private_result_fields.new(machine, libraries, *about, *of_run)


def _write(
    path: Path, filed: Results, before: dict[ResultKey, Point], after: dict[ResultKey, Point]
) -> None:
    """Write a result file with new points; asv's facts about those that stay are kept."""
    renewed = {name for (name, key), point in after.items() if before.get((name, key)) != point}
    by_name: dict[str, dict[tuple[str, ...], Point]] = defaultdict(dict)
    for (name, key), point in sorted(after.items()):
        by_name[name][key] = point
    for name in sorted(renewed):
        known = _known_stats(filed, name)
        found = by_name[name]
        axes = [list(dict.fromkeys(column)) for column in zip(*found, strict=True)]
        keys = list(product(*axes))
        rows = [found.get(key, {}) for key in keys]
        samples = [row.get("samples") for row in rows]
        stats = [
            known.get(key) if before.get((name, key)) == row else _interval(row)
            for key, row in zip(keys, rows, strict=True)
        ]
        values = [row.get("seconds", math.nan) for row in rows]
        private_result_fields.put(filed, name, axes, values, samples, stats)
    private_result_fields.sort(filed)
    result_files.write(path, filed)


def _known_stats(filed: Results, name: str) -> dict[tuple[str, ...], Any]:
    fields = private_result_fields.of(filed)
    return dict(zip(fields.keys(name), fields.stats.get(name) or (), strict=False))


def _interval(row: Point) -> dict[str, float] | None:
    if not {"low", "high"} <= set(row):
        return None
    return dict(zip(private_result_fields.INTERVAL, (row["low"], row["high"]), strict=True))


def key_of(point: Point) -> ResultKey:
    """Return the key of a point as asv writes it."""
    return point["benchmark"], tuple(point["params"])
