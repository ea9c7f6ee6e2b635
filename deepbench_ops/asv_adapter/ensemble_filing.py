"""Results of ensembles as asv's files hold them, with a record of each point next to them.

File names, environments and parameters are those of `asv run`, so that lines go on. A point of an
ensemble replaces the records of earlier measurements of the same kernel and release; git has them.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from enum import Enum
from pathlib import Path
from statistics import quantiles
from typing import Any, NamedTuple

from asv.results import Results

from deepbench_ops.asv_adapter import private_result_fields, result_files
from deepbench_ops.asv_adapter.asv_environment import PYTHON
from deepbench_ops.asv_adapter.filing_target import DOING, Benchmark, FilingTarget
from deepbench_ops.measure import fingerprint
from deepbench_ops.measure.kernel_identity import KernelIdentity
from deepbench_ops.problems.benchmark_names import BENCHMARK
from deepbench_ops.releases.release_table import Release
from deepbench_ops.storage import atomic_write, locks, measurement_files
from deepbench_ops.storage.measurement_files import Record
from deepbench_ops.storage.result_key import ResultKey, unquoted

DIGITS = 5
"""Significant digits of stored seconds."""

ALONE = ""
"""Stands for the file of rounds of times that were measured alone."""


class _Origin(NamedTuple):
    """Origin of a time: its file of rounds, None of a skip; external settings and threads."""

    file: str | None
    settings: str
    threads: str


class Filed(NamedTuple):
    """A kernel's time on a release, as it is filed.

    low, high: the interval of 99 % in seconds. samples: one of each round. number: calls of a
    slice. facts, notes: see `ensemble_round.Round`. implementation: the code that ran, "" where
    that is not known. core_latencies: lowest and highest of the rounds, in nanoseconds; empty where
    there are none. ensemble: its origin for the record: file, anchor, rounds, ratio with its
    interval. skipped: the reason where there is no time.
    """

    task: KernelIdentity
    release: Release
    started_at: float
    seconds: float = float("nan")
    low: float = float("nan")
    high: float = float("nan")
    samples: tuple[float, ...] = ()
    number: int = 1
    facts: Mapping[str, str] = {}
    notes: Mapping[str, str] = {}
    implementation: str = ""
    core_latencies: tuple[float, ...] = ()
    ensemble: Mapping[str, Any] = {}
    skipped: str = ""


def only_writer(target: FilingTarget) -> AbstractContextManager[None]:
    """Return a context in which no other process writes results."""
    return locks.results(target.results, DOING)


class Places(Enum):
    """The places in results that points are written to."""

    ALL = "all"
    MISSING_OR_OWN = "those without a time, and those of times from the same file of rounds"
    OWN = "those of times from the same file, of as many threads and the same external settings"


def file(
    target: FilingTarget,
    points: Iterable[Filed],
    ready: atomic_write.Ready,
    places: Places = Places.ALL,
) -> list[Path]:
    """Write points into the results of their releases, and return asv's files.

    places: which of their places; other stored times stay. ready: as `atomic_write.together` gives
    it. For the only writer. Raises DeepbenchError for a damaged
    file of results, and OSError; nothing is replaced then.
    """
    by_release: dict[Release, list[Filed]] = defaultdict(list)
    for point in points:
        by_release[point.release].append(point)
    return [_file(target, release, each, ready, places) for release, each in by_release.items()]


def benchmarks_of(
    target: FilingTarget, task: KernelIdentity
) -> list[tuple[Benchmark, tuple[str, ...]]]:
    """Return the benchmarks that have a kernel, one for each set that lists it, with its key."""
    key = (repr(task.problem), repr(task.precision))
    found: list[tuple[Benchmark, tuple[str, ...]]] = []
    for name, benchmark in target.benchmarks.items():
        named = BENCHMARK.fullmatch(name)
        if named and (named[1], named[3]) == (task.family, task.operation):
            axes = benchmark["params"]
            if len(axes) == len(key) and all(k in a for k, a in zip(key, axes, strict=True)):
                found.append((benchmark, key))
    return found


def _file(
    target: FilingTarget,
    release: Release,
    points: Sequence[Filed],
    ready: atomic_write.Ready,
    places: Places,
) -> Path:
    results = private_result_fields.new(
        target.machine,
        {},
        release.hash,
        release.milliseconds,
        PYTHON,
        target.environment,
        target.variables,
    )
    path = target.results / private_result_fields.path_of(results)
    if path.exists():
        results = result_files.undamaged(path)
    stored = {} if places is Places.ALL else _origins(path, results)
    records: list[Record] = []
    for point in points:
        own = _origin(point.ensemble.get("file"), point.facts)
        for benchmark, key in benchmarks_of(target, point.task):
            if _is_place(places, stored.get(unquoted(benchmark["name"], key)), own):
                _put(results, benchmark, key, point)
                records.append(_record(benchmark["name"], point))
    if records:
        result_files.write(ready(path), results)
        measurement_files.add(measurement_files.file_of(path), records, ready=ready)
    return path


def _is_place(places: Places, stored: _Origin | None, own: _Origin) -> bool:
    """Whether a point goes to the place of a stored time, None for none; given the origins."""
    if places is Places.MISSING_OR_OWN:
        return stored is None or stored.file == own.file
    return places is Places.ALL or stored == own


def _origin(file: str | None, facts: Mapping[str, str]) -> _Origin:
    return _Origin(file, facts.get(fingerprint.SETTINGS, ""), facts.get(fingerprint.THREADS, ""))


def _origins(path: Path, results: Results) -> dict[ResultKey, _Origin]:
    """Return the origin of each stored time."""
    found = {
        unquoted(one.name, one.key): _origin(ALONE, {})
        for one in private_result_fields.each(results)
    }
    records = measurement_files.file_of(path)
    facts, entries = measurement_files.load(records) if records.exists() else ({}, [])
    for entry in entries:
        key = unquoted(entry["benchmark"], entry["params"])
        if key in found and "ensemble" in entry:
            found[key] = _origin(entry["ensemble"]["file"], facts[entry["fingerprint"]])
    return found


def _put(results: Results, benchmark: Benchmark, key: tuple[str, ...], point: Filed) -> None:
    """Put a point into asv's result."""
    if point.skipped:
        private_result_fields.put_point(results, benchmark, key, float("nan"))
        return
    samples = list(map(_rounded, point.samples))
    first, _, third = quantiles(samples, n=4, method="inclusive")
    stats = {
        "ci_99_a": point.low,
        "ci_99_b": point.high,
        "q_25": first,
        "q_75": third,
        "number": point.number,
        "repeat": len(samples),
    }
    value = _rounded(point.seconds)
    started = round(1000 * point.started_at)
    private_result_fields.put_point(results, benchmark, key, value, samples, stats, started)


def _record(benchmark: str, point: Filed) -> Record:
    identity: Record = {
        "benchmark": benchmark,
        "params": [point.task.problem, point.task.precision],
        "release": point.release.name,
        "started_at": round(point.started_at, 3),
    }
    if point.skipped:
        return {**identity, "skipped": point.skipped}
    return {
        **identity,
        "number": point.number,
        "seconds": list(map(_rounded, point.samples)),
        "yardstick": [],
        "notes": dict(point.notes),
        **({"implementation": point.implementation} if point.implementation else {}),
        **({"core_latencies": list(point.core_latencies)} if point.core_latencies else {}),
        "ensemble": dict(point.ensemble),
        "fingerprint": dict(point.facts),
    }


def _rounded(seconds: float) -> float:
    return float(f"{seconds:.{DIGITS}g}")
