"""Results of a machine in one file, to be sent on and taken in elsewhere.

The file is JSON after submission.schema.json. Merging is the same in any order and however often:
of two times for one kernel the one with more samples stays, of as many the longer, with its raw
seconds.
"""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import date
from functools import cache
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any

from asv.machine import Machine
from asv.results import Results, iter_results_for_machine
from asv.util import write_json

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.machine import profile
from deepbench_ops.machine.profile import Figure
from deepbench_ops.problems.ids import problem_of
from deepbench_ops.problems.nearest import unknown
from deepbench_ops.published import raw
from deepbench_ops.published.filing import ListDays, entry_of, save
from deepbench_ops.published.sheets import LARGEST_BYTES
from deepbench_ops.releases.table import Release
from deepbench_ops.results import measurements
from deepbench_ops.results.measurements import Record

FORMAT, VERSION = "deepbench-submission", 2

BEYOND_PEAK = 1.05
BEYOND_MEASURED = 1.3
BEYOND_CONVOLUTION = 10.0
"""How many times the peak is impossible: data sheets round, a measured peak was taken on a machine
that was not quite free, and convolutions can do with a fraction of the direct method's FLOPs."""

Point = dict[str, Any]
Key = tuple[str, tuple[str, ...]]


def pack(results: Path, machine: str, releases: Mapping[str, Release]) -> dict[str, Any]:
    """Return all results of a machine, `releases` being the release table by hash.

    Raises DeepbenchError for a machine without results, a profile, or a release of the table.
    """
    known = profile.read(results, machine)
    described = entry_of(results / machine / "machine.json")
    if known is None or described is None:
        names = sorted(path.parent.name for path in results.glob("*/machine.profile"))
        raise unknown("machine with a profile", machine, names)
    packed = {
        "format": FORMAT,
        "version": VERSION,
        "machine": described,
        "profile": {"version": profile.VERSION, **asdict(known)},
        "results": [
            _packed(stored, results, releases)
            for stored in iter_results_for_machine(str(results), machine)
        ],
    }
    return {**packed, "digest": _digest(packed)}


def check(submission: Any) -> None:
    """Raise DeepbenchError, with the reason, for what is no honest submission."""
    from jsonschema import Draft202012Validator

    errors = sorted(Draft202012Validator(_schema()).iter_errors(submission), key=str)
    if errors:
        where = "/".join(map(str, errors[0].absolute_path)) or "the file"
        raise DeepbenchError(f"{where}: {errors[0].message[:200]}")
    content = {name: value for name, value in submission.items() if name != "digest"}
    if submission["digest"] != _digest(content):
        raise DeepbenchError("its digest does not fit: it was changed after it was packed")
    try:
        known = profile.parse(submission["profile"])
    except (ValueError, TypeError, KeyError, AttributeError) as wrong:
        raise DeepbenchError(f"profile: {type(wrong).__name__}: {wrong}") from None
    if known.machine != submission["machine"]["machine"]:
        raise DeepbenchError(f"profile: it is of {known.machine!r}, another machine")
    places = set()
    for result in submission["results"]:
        place = (_release(result).hash, result["environment"])
        if place in places:
            raise DeepbenchError(f"{_release(result).name} is in it twice")
        places.add(place)
        raw.check(result)
        device = result["variables"].get("DEEPBENCH_DEVICE", "cpu")
        seen = set()
        for point in result["points"]:
            if _key(point) in seen:
                raise DeepbenchError(f"{_named(result, point)} is in it twice")
            seen.add(_key(point))
            _refuse_impossible(result, point, known.peaks.get(device, {}))


def accept(
    results: Path, submission: Any, releases: Mapping[str, Release], list_days: ListDays
) -> int:
    """Take in a submission; return how many results changed, or their raw seconds.

    Days of publication are listed before the first result is written, as in `filing.file`. Raises
    DeepbenchError, and writes nothing, for what `check` refuses, for a machine that is described
    otherwise here, and for a release that the table lacks.
    """
    check(submission)
    machine = submission["machine"]["machine"]
    entry = results / machine / "machine.json"
    if entry_of(entry) not in (None, submission["machine"]):
        raise DeepbenchError(f"{entry} describes another machine of that name: rename one")
    found = [_release(result) for result in submission["results"]]
    for release in found:
        if release.measurable and release.hash not in releases:
            raise DeepbenchError(f"{release.name} is not in the release table: add its row first")
    list_days([release for release in found if not release.measurable])
    if not entry.exists():
        write_json(str(entry), submission["machine"], Machine.api_version)
    if profile.read(results, machine) is None:
        profile.write(results, profile.parse(submission["profile"]))
    return sum(
        _merge(results, result, _empty(submission["machine"], release, result))
        for release, result in zip(found, submission["results"], strict=True)
    )


def read(path: Path) -> Any | None:
    """Return what a submission's file holds, None for a file that is none.

    Raises DeepbenchError where it is one and no JSON, or larger than any.
    """
    try:
        with path.open("rb") as stream:
            if stream.read(1) != b"{":
                return None
        if path.stat().st_size > LARGEST_BYTES:
            raise DeepbenchError(f"{path}: {path.stat().st_size / 1e6:.0f} MB are no submission")
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DeepbenchError(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise DeepbenchError(f"{path} is no JSON ({error}): it is damaged") from None


def _release(result: dict[str, Any]) -> Release:
    try:
        day = date.fromisoformat(result["date"])
    except ValueError:
        raise DeepbenchError(f"{result['date']} is no day: write it as YYYY-MM-DD") from None
    return Release(result["framework"], result["release"], day)


def _merge(results: Path, result: dict[str, Any], empty: Results) -> bool:
    """Merge a submitted result with what is there, `empty` where nothing is; return whether that
    changed anything."""
    path = results / str(empty._filename)
    beside = measurements.beside(path)
    stored = Results.load(str(path)) if path.exists() else empty
    before = _points(stored)
    had = raw.by_point(raw.load(beside)[1])
    sent = raw.by_point(result.get("measurements", ()))
    after, brought = dict(before), {}
    for point in result["points"]:
        key, of = _key(point), raw.plain(*_key(point))
        standing = before.get(key)
        coming = sent.get(of, [])
        if not standing or _weight(point, coming) > _weight(standing, had.get(of, [])):
            after[key], brought[of] = point, coming
    renewed = raw.write(beside, result.get("conditions", {}), brought)
    if after != before:
        _write(results, path, stored, before, after)
    return renewed or after != before


def _packed(stored: Results, results: Path, releases: Mapping[str, Release]) -> dict[str, Any]:
    if stored.commit_hash not in releases:
        raise DeepbenchError(f"{stored._filename}: its release is not in the release table")
    release = releases[stored.commit_hash]
    beside = measurements.beside(results / str(stored._filename))
    facts, records = raw.load(beside)
    libraries = dict(stored._requirements)
    for conditions in facts.values():
        libraries |= {name: str(text) for name, text in conditions.items()}
    points = _points(stored)
    known = raw.by_point(records)
    own = [each for key in points for each in known.get(raw.plain(*key), ())]
    measured = {
        "conditions": {each["fingerprint"]: facts[each["fingerprint"]] for each in own},
        "measurements": own,
    }
    return {
        "framework": release.framework,
        "release": release.version,
        "date": release.date.isoformat(),
        "environment": str(stored.env_name),
        "variables": dict(stored.env_vars),
        "libraries": libraries,
        "points": list(points.values()),
        **(measured if own else {}),
    }


def _points(stored: Results) -> dict[Key, Point]:
    found: dict[Key, Point] = {}
    for name in stored.get_all_result_keys():
        params = stored.get_result_params(name)
        columns = (
            stored.get_result_value(name, params),
            stored.get_result_stats(name, params),
            stored.get_result_samples(name, params),
        )
        for key, value, stats, samples in zip(product(*params), *columns, strict=True):
            if value is None or math.isnan(value):
                continue
            point: Point = {"benchmark": name, "params": list(key), "seconds": value}
            for bound, column in (("low", "ci_99_a"), ("high", "ci_99_b")):
                if stats and column in stats:
                    point[bound] = stats[column]
            if samples:
                point["samples"] = list(samples)
            found[_key(point)] = point
    return found


def _empty(machine: dict[str, str], release: Release, result: dict[str, Any]) -> Results:
    """Return a result file of asv's without times."""
    python = "3" if release.measurable else ""
    about = (release.hash, release.milliseconds, python)
    of_run = (result["environment"], result["variables"])
    return Results({**machine, "python": python}, result["libraries"], *about, *of_run)


def _write(
    results: Path, path: Path, stored: Results, before: dict[Key, Point], after: dict[Key, Point]
) -> None:
    """Write a result file with new points; what asv knows of those that stay is kept."""
    renewed = {name for (name, key), point in after.items() if before.get((name, key)) != point}
    for name in sorted(renewed):
        known = _known_stats(stored, name)
        found = {key: point for (of, key), point in sorted(after.items()) if of == name}
        axes = [list(dict.fromkeys(column)) for column in zip(*found, strict=True)]
        keys = list(product(*axes))
        rows = [found.get(key, {}) for key in keys]
        samples = [row.get("samples") for row in rows]
        stats = [
            known.get(key) if before.get((name, key)) == row else _interval(row)
            for key, row in zip(keys, rows, strict=True)
        ]
        stored._results[name] = [row.get("seconds", math.nan) for row in rows]
        stored._benchmark_params[name] = axes
        stored._samples[name] = samples if any(samples) else None
        stored._stats[name] = stats if any(stats) else None
    save(results, path, stored)


def _known_stats(stored: Results, name: str) -> dict[tuple[str, ...], Any]:
    if name not in stored._results:
        return {}
    params = stored.get_result_params(name)
    return dict(zip(product(*params), stored.get_result_stats(name, params), strict=True))


def _interval(row: Point) -> dict[str, float] | None:
    if not {"low", "high"} <= set(row):
        return None
    return {"ci_99_a": row["low"], "ci_99_b": row["high"]}


def _refuse_impossible(result: dict[str, Any], point: Point, peaks: Mapping[str, Figure]) -> None:
    family, _, kernel = point["benchmark"].split(".")
    problem_id, precision = (text.strip("'") for text in point["params"][:2])
    figure = peaks.get(precision)
    peak, how = (figure.value, figure.how) if figure else (None, "")
    work = problem_of(family, problem_id).flops_of(kernel.removeprefix("kernel_"))
    factor = BEYOND_MEASURED if how.startswith("measured") else BEYOND_PEAK
    factor = BEYOND_CONVOLUTION if family == "conv" else factor
    if peak and work / point["seconds"] > factor * peak:
        raise DeepbenchError(
            f"{_named(result, point)} in {point['seconds']:g} s is {work / point['seconds']:.3g}"
            f" FLOP/s, more than the {peak:.3g} that its profile says the machine can do"
        )


def _named(result: dict[str, Any], point: Point) -> str:
    where = f"{result['framework']}-{result['release']}"
    return f"{where} {point['benchmark']}({', '.join(point['params'])})"


def _weight(point: Point, records: Sequence[Record]) -> tuple[int, float, str, int, str]:
    samples, text = len(point.get("samples", [])), json.dumps(point, sort_keys=True)
    return samples, point["seconds"], text, len(records), raw.text(records)


def _key(point: Point) -> Key:
    return point["benchmark"], tuple(point["params"])


def _digest(content: Mapping[str, Any]) -> str:
    try:
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except ValueError:
        raise DeepbenchError("a number in it is not finite") from None
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


@cache
def _schema() -> Any:
    return json.loads(files(__package__).joinpath("submission.schema.json").read_text("utf-8"))
