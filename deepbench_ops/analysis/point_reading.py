"""Read the points of a machine from its result files, with the records of their processes."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import UTC, date, datetime
from functools import cache
from itertools import chain
from pathlib import Path

from deepbench_ops import damage_reports
from deepbench_ops.analysis import wrong_published_times
from deepbench_ops.analysis.points import IMPLEMENTATION, STATE, Origin, Point
from deepbench_ops.asv_adapter import private_result_fields, result_files
from deepbench_ops.asv_adapter.private_result_fields import Results
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.garbage_collector_pause import no_collector
from deepbench_ops.machine.steadiness import SteadinessJudge
from deepbench_ops.problems.benchmark_names import (
    BENCHMARK,
    EARLIER,
    FOREIGN,
    SET_OF_CLASS,
    why_not,
    why_not_compared,
)
from deepbench_ops.problems.suggestions import unknown
from deepbench_ops.releases.release_table import Release
from deepbench_ops.run_conditions import CONDITIONS, DEVICE, VALUE
from deepbench_ops.statistics.median_interval import log_interval
from deepbench_ops.storage import conflict_files, measurement_files
from deepbench_ops.storage.measurement_files import Record
from deepbench_ops.storage.result_key import ResultKey, unquoted

STAND_IN = "commit"
"""The framework of a release that the table does not have; its version is the commit's start."""

_unquoted = cache(unquoted)


def machines(results: Path, report: Callable[..., object] = damage_reports.report) -> list[str]:
    """Return the machines that have results.

    A folder of results without its machine.json is left out and reported; a machine.json that is
    damaged is reported alone, since no time is read from it.
    """
    names = []
    for folder in sorted(path for path in results.glob("*") if path.is_dir()):
        described = folder / "machine.json"
        if described.exists():
            names.append(folder.name)
            try:
                result_files.entry(described)
            except DeepbenchError as wrong:
                report(str(wrong), damaged=False)
        elif result_files.paths(folder):
            report(
                f"{folder} is left out, since it has results and no machine.json: restore that from"
                " git, or remove the folder"
            )
    return names


def load(
    results: Path,
    machine: str,
    releases: dict[str, Release],
    rounds: bool = False,
    strange: Counter[str] | None = None,
    samples: bool = False,
) -> list[Point]:
    """Return all points of a machine, by day; `releases` is the release table by hash.

    Published times that are wrong are left out. Unsteady points are included, with their reason.
    `rounds` asks for their rounds and notes too, `samples` for their samples. `strange` counts the
    results that are left out because they are no kernel of this suite, or of an earlier version of
    it. Damaged files and
    values that cannot be right are left out and reported, unless `strange` is given: its caller
    reports them.
    Raises DeepbenchError for a machine that has no results, or a file of samples that is broken.
    """
    counted: Counter[str] = Counter() if strange is None else strange
    report = damage_reports.report if strange is None else no_report
    parts = of_each_result(results, machine, releases, counted, rounds, samples, report)
    with no_collector():  # a third of the time of loading, and none of the objects is garbage
        found = sorted(chain.from_iterable(parts), key=lambda point: point.release.date)
    if strange is None:
        report_strange(machine, counted)
    return found


def of_each_result(
    results: Path,
    machine: str,
    releases: dict[str, Release],
    strange: Counter[str],
    rounds: bool = False,
    samples: bool = False,
    report: Callable[[str], None] = damage_reports.report,
) -> Iterator[list[Point]]:
    """Yield the points that `load` returns, result file by result file. Raises as that does.

    strange: counts the results that are left out because they are no kernel of this suite. report:
    takes a line about each damaged file.
    """
    if not (results / machine / "machine.json").exists():
        raise unknown("machine", machine, machines(results))
    wrong_times = wrong_published_times.of_machine(results / machine)
    judge = SteadinessJudge.of(results / machine, report)
    for result in result_files.of_machine(results / machine, report):
        path = results / private_result_fields.path_of(result)
        conflicts = _conflicts(path, report)
        own = wrong_times.get(path.name, set())
        yield list(
            _points(result, machine, releases, judge, rounds, samples, own, conflicts, strange)
        )


def report_strange(machine: str, strange: Mapping[str, int]) -> None:
    """Report the results of a machine that are left out, counted by the reason."""
    for reason, count in strange.items():
        line = f"{machine}: {count} times are left out: {reason}"
        damage_reports.report(line, damaged=not reason.endswith((FOREIGN, EARLIER)))


def no_report(_: str, damaged: bool = True) -> None:
    """Report nothing."""


def _conflicts(path: Path, report: Callable[[str], None]) -> Mapping[ResultKey, tuple[float, ...]]:
    """Return the seconds of a result file's points with open conflicts; a damaged file of conflicts
    is reported."""
    try:
        return conflict_files.open_seconds(conflict_files.file_of(path))
    except DeepbenchError as wrong:
        report(str(wrong))
        return {}


def _points(
    result: Results,
    machine: str,
    releases: dict[str, Release],
    judge: SteadinessJudge,
    rounds: bool,
    samples: bool,
    wrong_times: Collection[ResultKey],
    conflicts: Mapping[ResultKey, tuple[float, ...]],
    strange: Counter[str],
) -> Iterator[Point]:
    release = releases.get(result.commit_hash) or _unlisted(result)
    variables = result.env_vars
    conditions = {condition.name: condition.of(variables) for condition in CONDITIONS}
    odd = next(
        # Anything else would come into the commands that pages offer.
        (f"{v!r} is no condition" for v in conditions.values() if not VALUE.fullmatch(v)),
        "",
    )
    file = judge.file(private_result_fields.path_of(result))
    versions = private_result_fields.of(result).versions
    for name, key, value, stat, several in private_result_fields.each(result):
        if (name, key) in wrong_times:
            continue
        plain = _unquoted(name, key)[1]
        reason = why_not(name, plain) or odd
        reason = reason or why_not_compared(name, plain[0], versions.get(name))
        if reason:
            strange[reason] += 1
            continue
        family, kind, operation = _named(name)
        problem_id, precision, *ranks = plain
        records = file.of((name, plain))
        state = judge.state(records)
        origin = Origin.of(records)
        own = origin.interval if origin else log_interval(several) if stat else None
        low, high = own or (None, None)
        yield Point(
            machine=machine,
            release=release,
            family=family,
            set=SET_OF_CLASS[kind],
            operation=operation,
            problem_id=problem_id,
            precision=precision,
            ranks=int(ranks[0]) if ranks else None,
            **conditions,
            seconds=value,
            low=low,
            high=high,
            samples=len(several or (value,)),
            rounds=tuple(chain.from_iterable(map(measurement_files.levels, records)))
            if rounds
            else (),
            notes=_notes(records[-1], state) if rounds and records else (),
            settings=file.settings((name, plain)),
            state=state,
            unsteady=judge.reason(records, (name, plain), value, conditions[DEVICE.name]),
            sample_seconds=tuple(several or ()) if samples else (),
            ensemble=origin,
            conflict=conflicts.get((name, plain), ()),
            threads=file.threads((name, plain)),
        )


def _notes(record: Record, state: str) -> tuple[tuple[str, str], ...]:
    """Return the notes of a record; its library code takes the place of the note on it, if any."""
    notes = {**record.get("notes", {}), STATE: state}
    notes[IMPLEMENTATION] = record.get("implementation") or notes.get(IMPLEMENTATION)
    return tuple((str(name), str(text)) for name, text in notes.items() if text)


@cache
def _named(benchmark: str) -> tuple[str, str, str]:
    """Return family, class and operation of a benchmark of this suite."""
    ours = BENCHMARK.fullmatch(benchmark)
    assert ours is not None, benchmark
    family, kind, operation = ours.groups()
    return family, kind, operation


def _unlisted(result: Results) -> Release:
    """Return a stand-in for a commit that the release table does not have."""
    day: date = datetime.fromtimestamp(result.date / 1000, UTC).date()
    return Release(STAND_IN, result.commit_hash[:8], day)
