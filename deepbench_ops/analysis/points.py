"""Points: all times in results/ as one list, one for each kernel, release and machine.

Measured and published results alike. Only seconds are stored; rates are derived by the readers from
the problem's FLOPs and bytes.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from functools import cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from deepbench_ops import damage_reports
from deepbench_ops.analysis import wrong_published_times
from deepbench_ops.asv_adapter import private_result_fields, result_files
from deepbench_ops.asv_adapter.private_result_fields import Results
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.garbage_collector_pause import no_collector
from deepbench_ops.machine.steadiness import SteadinessJudge
from deepbench_ops.measure import library_variables
from deepbench_ops.measure.fingerprint import SETTINGS
from deepbench_ops.measure.library_variables import Settings
from deepbench_ops.problems.benchmark_names import BENCHMARK, FOREIGN, SET_OF_CLASS, why_not
from deepbench_ops.problems.precision import TABLE, stored
from deepbench_ops.problems.problem import Problem, compared
from deepbench_ops.problems.problem_ids import problem_of
from deepbench_ops.problems.selections import CLASSES
from deepbench_ops.problems.suggestions import unknown
from deepbench_ops.releases.release_table import Release
from deepbench_ops.run_conditions import CONDITIONS, DEVICE, VALUE
from deepbench_ops.statistics.median_interval import FEWEST_SAMPLES, log_interval
from deepbench_ops.storage import conflict_files, measurement_files
from deepbench_ops.storage.measurement_files import Record
from deepbench_ops.storage.result_key import ResultKey, unquoted

USUAL = tuple(condition.usual for condition in CONDITIONS)

IMPLEMENTATION, PRIMITIVE, STATE = "implementation", "primitive", "state of the machine"
"""Notes of a point: which library code computed, the same in older records of convolutions in
torch, and `Point.state`."""

WIDEST = 2.0
"""An interval that reaches beyond so many times the time, or below that part of it, is none."""

STAND_IN = "commit"
"""The framework of a release that the table does not have; its version is the commit's start."""

TOO_FEW = "too few samples"
TOO_FAR = "samples too far apart"
NOT_STORED = "no interval stored"

KernelKey = tuple[str, str, str, str, str, int | None, str, str, str]
"""The kernel of a point: see `Point.kernel`."""


class Origin(NamedTuple):
    """The rounds of an ensemble that a point comes from.

    file: their file, in the machine's folder `ensembles`. anchor: the release that all are compared
    with. rounds: their number. ratio: to the anchor, with low and high, its interval of 99 %.
    interval: the same around the point's seconds. states: of the machine, where they are known.
    """

    file: str
    anchor: str
    rounds: int
    ratio: float
    low: float
    high: float
    interval: tuple[float, float]
    states: tuple[str, ...] = ()

    @classmethod
    def of(cls, records: Sequence[Record]) -> "Origin | None":
        """Return the ensemble of a point by its records; None where it has none."""
        found = records[-1].get("ensemble") if records else None
        if found is None:
            return None
        low, high = found["interval"]
        plain = {name: found[name] for name in cls._fields[:6]}
        return cls(**plain, interval=(low, high), states=tuple(found.get("states", ())))


class Point(NamedTuple):
    """One time: seconds of one call of a kernel, with low and high, the interval of 99 % of its
    samples, where there are enough of them.

    set, operation, precision and ranks (of an all-reduce) are the axes of the benchmark; device,
    cache, layout and execution the conditions of the run. samples: how many times it stands for.
    """

    machine: str
    release: Release
    family: str
    set: str
    operation: str
    problem_id: str
    precision: str
    ranks: int | None
    device: str
    cache: str
    layout: str
    execution: str
    seconds: float
    low: float | None
    high: float | None
    samples: int
    rounds: tuple[float, ...] = ()
    """The level of every process that measured it, in seconds; none for published figures, and
    where they were not asked for."""
    notes: tuple[tuple[str, str], ...] = ()
    """The notes of its newest process on how the kernel runs, by name: route, primitive, layout
    ...; loaded with the rounds."""
    settings: Settings | None = None
    """External environment variables that steer libraries; None where that is not known."""
    unsteady: str = ""
    """Why it is not to be trusted, in a few words; "" where it is steady (see
    `machine.steadiness`)."""
    sample_seconds: tuple[float, ...] = ()
    """Its samples, where they were asked for."""
    state: str = ""
    """The state of the machine meanwhile (see `measure.machine_states`); "" where that is not
    known, as of kernels on one thread."""
    ensemble: "Origin | None" = None
    """The ensemble in which it was measured together with other releases; None where it was
    measured on its own."""
    conflict: tuple[float, ...] = ()
    """Seconds of all versions of it that were sent and differ, its own included, while no one has
    chosen; () where there is no conflict."""

    @property
    def problem(self) -> Problem:
        """The problem, with its FLOPs and bytes."""
        return _problem(self.family, self.problem_id)

    @property
    def flops(self) -> float:
        """The problem's FLOPs in this operation."""
        return _flops(self.family, self.problem_id, self.operation)

    @property
    def benchmark(self) -> str:
        """Name of its asv benchmark, such as gemm.Training.kernel_forward."""
        return f"{self.family}.{CLASSES.get(self.set, self.set)}.kernel_{self.operation}"

    @property
    def compared(self) -> bool:
        """Whether it takes part in comparisons; see `problem.compared`."""
        return compared(self.operation)

    @property
    def kernel(self) -> KernelKey:
        """The timed kernel, the same on every machine and release."""
        return (
            self.family,
            self.set,
            self.operation,
            self.problem_id,
            self.precision,
            self.ranks,
            self.cache,
            self.layout,
            self.execution,
        )

    @property
    def name(self) -> str:
        """Its problem, with the ranks and the unusual conditions that distinguish it from
        others."""
        ranks = [f"{self.ranks} ranks"] if self.ranks is not None else []
        others = [value for name, value in self.unusual.items() if name != DEVICE.name]
        return ", ".join([self.problem_id, *ranks, *others])

    @property
    def description(self) -> str:
        """Its kernel: "gemm training forward m1760_n128_k1760_NN, float32", and odd conditions."""
        ranks = f", {self.ranks} ranks" if self.ranks else ""
        kernel = f"{self.family} {self.set} {self.operation} {self.problem_id}{ranks}"
        return ", ".join([kernel, self.precision, *self.unusual.values()])

    @property
    def conditions(self) -> dict[str, str]:
        """Conditions of the run, by name."""
        return {condition.name: getattr(self, condition.name) for condition in CONDITIONS}

    @property
    def unusual(self) -> dict[str, str]:
        """Conditions that are not the usual ones, and external settings where there are any.

        A dictionary of several points, not to be changed.
        """
        return _unusual((self.device, self.cache, self.layout, self.execution), self.settings)

    @property
    def usual(self) -> bool:
        """Whether all conditions but the device are the usual ones, without external
        settings."""
        return self.usual_run and not self.settings

    @property
    def usual_run(self) -> bool:
        """Whether all conditions but the device are the usual ones, under any settings."""
        return _usual_run((self.device, self.cache, self.layout, self.execution))

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval of 99 % in seconds; None where `without_interval` gives a reason. Pages,
        commands and exports show this one."""
        if self.low is None or self.high is None or self.without_interval:
            return None
        return self.low, self.high

    @property
    def without_interval(self) -> str:
        """Reason why it has no interval, in a few words; "" where it has one."""
        if self.low is None or self.high is None:
            return TOO_FEW if self.samples < FEWEST_SAMPLES else NOT_STORED
        if self.samples < FEWEST_SAMPLES and self.ensemble is None:
            return TOO_FEW
        near = self.seconds / WIDEST <= self.low and self.high <= self.seconds * WIDEST
        return "" if near else TOO_FAR

    @property
    def implementation(self) -> str:
        """Library code that computed, as its record names it; "" where it does not, and where notes
        were not asked for."""
        notes = dict(self.notes)
        return notes.get(IMPLEMENTATION) or notes.get(PRIMITIVE, "")

    @property
    def launch_bound(self) -> bool:
        """Whether the host needs longer to start its calls than the device to compute them; False
        where notes were not asked for."""
        return dict(self.notes).get("launches", "").endswith(": launch-bound")

    @property
    def rate(self) -> float:
        """FLOP/s, bytes/s where it has no FLOPs, from the problem's own counts."""
        return (self.flops or self.bytes) / self.seconds

    @property
    def bytes(self) -> float:
        """Bytes that the problem cannot avoid moving in this operation and precision."""
        weight = stored(self.precision)
        known = weight if weight in TABLE else "float32"
        return self.problem.bytes_of(known, self.operation)


@cache
def _unusual(conditions: tuple[str, ...], settings: Settings | None) -> dict[str, str]:
    found = {
        condition.name: value
        for condition, value in zip(CONDITIONS, conditions, strict=True)
        if value != condition.usual
    }
    return {**found, SETTINGS: library_variables.text(settings)} if settings else found


@cache
def _usual_run(conditions: tuple[str, ...]) -> bool:
    return not _unusual(conditions, None).keys() - {DEVICE.name}


_problem = cache(problem_of)
_unquoted = cache(unquoted)


@cache
def _flops(family: str, problem_id: str, operation: str) -> float:
    return _problem(family, problem_id).flops_of(operation)


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
    results that are left out because they are no kernel of this suite. Damaged files and
    values that cannot be right are left out and reported, unless there is a `strange`: its owner
    names them.
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
        damage_reports.report(line, damaged=not reason.endswith(FOREIGN))


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
    for name, key, value, stat, several in private_result_fields.each(result):
        if (name, key) in wrong_times:
            continue
        plain = _unquoted(name, key)[1]
        reason = why_not(name, plain) or odd
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
        )


def _notes(record: Record, state: str) -> tuple[tuple[str, str], ...]:
    notes = {**record.get("notes", {}), IMPLEMENTATION: record.get("implementation"), STATE: state}
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
