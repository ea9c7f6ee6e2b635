"""The run of this process: its progress, its journal and its records.

Two loops of asv are wrapped: over the benchmarks of a release, and over the points of a
benchmark.
"""

import itertools
import math
import os
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from asv import runner
from asv.commands import find as find_command
from asv.commands import run as run_command
from asv.console import log
from asv.results import Results
from asv.runner import BenchmarkResult
from asv.util import UserError

import deepbench_ops
from deepbench_ops.asv_adapter import asv_environment, machine_entry, private_result_fields
from deepbench_ops.asv_adapter.asv_run_journal import (
    MeasuredPoint,
    Record,
    RunJournal,
    forget_saved,
)
from deepbench_ops.asv_adapter.patch_installation import Function, Patch
from deepbench_ops.asv_adapter.remeasured_points import of_histories
from deepbench_ops.asv_adapter.run_progress import RunProgress
from deepbench_ops.backends import reference_cache, run_cache
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.measure import fingerprint, library_variables, nominal_readings, record_handover
from deepbench_ops.storage import input_digest
from deepbench_ops.storage.result_key import ResultKey, unquoted

FOLDER = Path(".asv", "unfinished")
YES_VARIABLE = "DEEPBENCH_YES"
"""Set to 1, it starts long runs without a question."""
LIMIT_VARIABLE = "DEEPBENCH_RUN_LIMIT"
"""Seconds after which a run begins no other point, saves the finished ones and ends."""

MEASURING_CODE = ("problems", "models", "backends", "measure", "distributed", "suite")
MEASURING_MODULES = ("run_conditions.py", "random_operands.py")


LEFT_OUT = BenchmarkResult(
    result=[math.nan], samples=[None], number=[None], errcode=0, stderr="", profile=None
)
"""asv's form of a skipped point, which takes the place of no stored value."""


class OngoingRun:
    """The run that is going on; one at a time in an asv process.

    spool: folder of the records that the measuring processes write.
    saving: whether asv saves its results. appending_to: folder of the results to which the user
    asked asv to append samples, None where they replace the stored ones. command: digest of the
    user's request, "" where its saved points are not kept for a resumed run. joined: by release's
    hash the points that were measured in an ensemble before, under the conditions of this process;
    there they are left out. until: reading of time.monotonic from which on no point is begun.
    last_round: whether no other round of the present release follows.
    """

    def __init__(self, spool: Path) -> None:
        self.spool = spool
        self.saving = True
        self.appending_to: Path | None = None
        self.command = ""
        self.last_round = True
        self.joined: dict[str, set[ResultKey]] = {}
        self.until = math.inf
        self._cut_short = False
        self._not_begun: dict[str, bool] = {}
        self._answers: dict[ResultKey, BenchmarkResult] = {}
        self._records: list[Record] = []
        self._left_out: set[ResultKey] = set()
        self._journal: RunJournal | None = None
        self._journals: dict[tuple[str, str], RunJournal] = {}
        self._progress: RunProgress | None = None
        self._results: Results | None = None

    def records(self) -> list[Record]:
        """Return all records of the run, which asv is about to save."""
        return self._records

    def forget(self) -> None:
        """Forget the run's records and its journal, when they are in the results. Raises OSError.

        Where rounds alternate between releases, asv saves each; the journal keeps all rounds of a
        release until the last is saved, since a run that starts again starts with the first.
        """
        self._records = []
        if self._journal and self.last_round:
            self._journal.close()

    def end(self) -> None:
        """Forget the saved points too: the command has come to its end, and measures all of them
        the next time. One that was cut short goes on the next time."""
        if not self._cut_short:
            forget_saved(FOLDER, self.command)

    @property
    def appending(self) -> bool:
        """Whether samples join the stored ones, as the user asked."""
        return self.appending_to is not None

    @property
    def journal_path(self) -> Path | None:
        """Path of the journal, from which the same command goes on; None without one."""
        return self._journal.path if self._journal else None

    def around_run(self, run_benchmarks: Function) -> Function:
        """Wrap asv's loop over the benchmarks of one release."""

        def wrapped(benchmarks: Any, env: Any, *args: Any, **kwargs: Any) -> Any:
            self._begin(benchmarks, env, kwargs)
            try:
                made = run_benchmarks(benchmarks, env, *args, **kwargs)
                self._remove_not_begun()
                return made
            finally:
                self._finish()

        return wrapped

    def around_point(self, run_point: Function) -> Function:
        """Wrap asv's start of one process for one point."""

        def wrapped(benchmark: dict[str, Any], spawner: Any, index: int, **kwargs: Any) -> Any:
            point = _point(benchmark, index)
            if self._progress is None:
                return run_point(benchmark, spawner, index, **kwargs)
            if point in self._left_out:
                return LEFT_OUT
            earlier = self._journal.take(point) if self._journal else None
            if earlier is not None:
                self._not_begun[point[0]] = False
                self._progress.skip(point, _spent(earlier.records))
                self._records.extend(earlier.records)
                self._answers[point] = BenchmarkResult(**earlier.answer)
                if self.appending:
                    # Where a run saved them before it was killed, they join those of before once.
                    self._take_out(point)
                return self._answers[point]
            if time.monotonic() > self.until:
                return self._leave_out(point)
            self._not_begun[point[0]] = False
            answer = self._measure(point, lambda: run_point(benchmark, spawner, index, **kwargs))
            self._answers[point] = answer
            return answer

        return wrapped

    def _leave_out(self, point: ResultKey) -> BenchmarkResult:
        """Return the answer of a point after the limit: that of an earlier round, if it has one."""
        self._cut_short = True
        self._not_begun.setdefault(point[0], True)
        if point not in self._answers:
            return LEFT_OUT
        self._take_out(point)  # asv joins the answer's samples to those of before again
        return self._answers[point]

    def _take_out(self, point: ResultKey) -> None:
        """Take the samples of a point's answer out of asv's results, where they are among them."""
        samples = (self._answers[point].samples or [None])[0]
        if self._results is not None and samples:
            private_result_fields.take_out(self._results, point, samples)

    def _begin(self, benchmarks: Any, env: Any, options: dict[str, Any]) -> None:
        extra = dict(options.get("extra_params") or {})
        if options.get("quick"):
            extra["rounds"] = 1
        left: Counter[ResultKey] = Counter()
        here = asv_environment.is_of_this_process(env.env_vars)
        self._results, self._not_begun, self._answers = options.get("results"), {}, {}
        joined = self.joined.get(env.installed_commit_hash, set()) if here else set()
        complete = self._of_histories()
        self._left_out = joined | complete
        for name, benchmark in benchmarks.items():
            times = rounds(benchmark, options.get("run_rounds"), extra)
            for point in selected(benchmark, benchmarks.benchmark_selection.get(name)):
                left[point] += 0 if point in self._left_out else times
        if count := len(complete & left.keys()):
            named = "1 point is" if count == 1 else f"{count} points are"
            log.info(
                f"{named} of a history, to whose rounds no samples can be appended: left out;"
                " deepbench history adds rounds"
            )
        self._progress, self._journal, self._records = RunProgress(left), None, []
        run_cache.empty()
        self.last_round = 1 in (options.get("run_rounds") or [1])  # asv counts them down
        log.info(f"{left.total()} points to measure")
        if self.saving and not options.get("profile"):
            quick = bool(options.get("quick"))
            self._journal = self._open(Path(benchmarks.benchmark_dir), env, extra, quick)

    def _of_histories(self) -> set[ResultKey]:
        """Return the stored points to which no samples can be appended: those of a history."""
        if self.appending_to is None or self._results is None:
            return set()
        try:
            return of_histories(self.appending_to / private_result_fields.path_of(self._results))
        except DeepbenchError as error:
            raise UserError(str(error)) from None

    def _open(self, suite: Path, env: Any, extra: dict[str, Any], quick: bool) -> RunJournal:
        place = (env.installed_commit_hash or "source", env.name)
        if place in self._journals:  # a later round of this run
            return self._journals[place]
        conditions = {
            "release": place[0],
            "environment": place[1],
            "machine": "" if self._results is None else self._results.params["machine"],
            "processor": fingerprint.silicon(),
            "code": _code(suite),
            "quick": quick,
            "extra": {str(key): str(value) for key, value in extra.items()},
            "settings": library_variables.text(library_variables.foreign()),
            **_variables(),
        }
        journal = self._journals[place] = RunJournal(FOLDER, conditions, self.command)
        if saved := journal.saved:
            log.info(
                f"{saved} are saved already by the same command, which was interrupted later: they "
                f"are not measured again (remove {FOLDER} to measure them again)"
            )
        if unsaved := journal.waiting - saved:
            log.info(
                f"{unsaved} were measured by a run that was interrupted and are taken "
                f"from {FOLDER} (remove it to measure them again)"
            )
        return journal

    def _measure(self, point: ResultKey, run: Callable[[], Any]) -> Any:
        assert self._progress is not None
        self._progress.begin(point)
        started = time.monotonic()
        answer = run()
        records = record_handover.collect(self.spool)
        self._records.extend(records)
        self._progress.end(point, time.monotonic() - started, records)
        if self._journal and answer.errcode == 0:
            self._keep(self._journal, point, MeasuredPoint(answer._asdict(), records))
        return answer

    def _keep(self, journal: RunJournal, point: ResultKey, entry: MeasuredPoint) -> None:
        """Write a point into the journal. Raises UserError, which ends the run, if that fails."""
        try:
            journal.add(point, entry)
        except OSError as error:
            raise UserError(
                f"{journal.path} cannot be written ({error.strerror}): mend that; the points"
                " before this one are kept, and the same command goes on from there"
            ) from None

    def _remove_not_begun(self) -> None:
        """Remove benchmarks that the limit left without any time: stored, they would look
        skipped."""
        results = self._results
        known = [] if results is None else results.get_all_result_keys()
        for name in [each for each, missing in self._not_begun.items() if missing]:
            if results is not None and name in known and not _has_times(results, name):
                results.remove_result(name)

    def _finish(self) -> None:
        progress, self._progress = self._progress, None
        if progress is None or not (progress.done or self._cut_short):
            return
        log.info(progress.summary())
        if self._cut_short:
            log.info(f"{LIMIT_VARIABLE} is over: the same command goes on from here")
        elif progress.done < progress.points and self._journal:
            log.info("finished points are kept: the same command goes on from here")


def _without_cache(run_benchmarks: Function) -> Function:
    """Wrap asv's measuring of a release in `asv find`: no cached value of another is taken."""

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        run_cache.empty()
        return run_benchmarks(*args, **kwargs)

    return wrapped


def limit(environ: Mapping[str, str]) -> float:
    """Return the reading of time.monotonic from which on a run begins no point; infinity for never.

    Raises UserError for a LIMIT_VARIABLE that is no number above 0.
    """
    text = environ.get(LIMIT_VARIABLE, "")
    if not text:
        return math.inf
    with suppress(ValueError):
        if float(text) > 0:
            return time.monotonic() + float(text)
    raise UserError(f"{LIMIT_VARIABLE} is {text!r}: give a number of seconds above 0")


def _variables() -> dict[str, str]:
    """Return the environment variables that steer measuring, without those of this run alone.

    Nominal readings are among the latter: they grow with each state of the machine that is met, and
    each record names the one that it was calibrated by.
    """
    names = {name for name in os.environ if name.startswith("DEEPBENCH_")}
    names -= {
        record_handover.SPOOL_VARIABLE,
        run_cache.FOLDER_VARIABLE,
        reference_cache.FOLDER_VARIABLE,
        YES_VARIABLE,
        LIMIT_VARIABLE,
    }
    names -= {machine_entry.FILE_VARIABLE, fingerprint.NODE_VARIABLE}
    names.discard(nominal_readings.VARIABLE)
    return {name: os.environ[name] for name in sorted(names)}


def _point(benchmark: dict[str, Any], index: int) -> ResultKey:
    """Return the key of one point; index: its place among all combinations of parameters."""
    params: tuple[str, ...] = ()
    if benchmark["params"]:
        combinations = itertools.product(*benchmark["params"])
        params = next(itertools.islice(combinations, index, None))
    return unquoted(benchmark["name"], params)


def selected(benchmark: dict[str, Any], places: Collection[int] | None) -> list[ResultKey]:
    """Return the points of a benchmark at these places among its parameters; None for all."""
    if places is None:
        places = range(math.prod(len(values) for values in benchmark["params"]))
    return [_point(benchmark, index) for index in places]


def _has_times(results: Results, benchmark: str) -> bool:
    values = results.get_result_value(benchmark, results.get_result_params(benchmark))
    return any(value is not None and not math.isnan(value) for value in values)


def _spent(records: list[Record]) -> float:
    """Return the seconds that measuring took, according to the records."""
    return sum(record.get("spent", {}).get("measuring", 0.0) for record in records)


def rounds(benchmark: dict[str, Any], numbers: list[int] | None, extra: dict[str, Any]) -> int:
    """Return how many of these rounds of a benchmark asv's loop runs; None stands for all."""
    most = int(extra.get("rounds", benchmark.get("rounds", 1)))
    return most if numbers is None else sum(number <= most for number in numbers)


def _code(benchmarks: Path) -> str:
    """Return a digest of all the code that chooses the kernels and measures them."""
    package = Path(deepbench_ops.__file__).parent
    folders = [*(package / name for name in MEASURING_CODE), benchmarks]
    files = [package / name for name in MEASURING_MODULES]
    files += [path for folder in folders for path in folder.rglob("*.[pc][ys]*")]
    return input_digest.of_files(path for path in files if path.suffix in (".py", ".csv"))


_current = OngoingRun(Path(".asv", "spool", "none"))


def current() -> OngoingRun:
    """Return the run of this process; before `begin` an empty one."""
    return _current


def begin(spool: Path) -> OngoingRun:
    """Make a run with this spool the current one, and return it."""
    global _current
    _current = OngoingRun(spool)
    return _current


PATCHES = (
    Patch(
        run_command,
        "run_benchmarks",
        lambda run: lambda *args, **kwargs: current().around_run(run)(*args, **kwargs),
        "a release's points are counted, and those of an interrupted run are looked for",
    ),
    Patch(
        find_command,
        "run_benchmarks",
        _without_cache,
        "in `asv find`, checks and estimates of one release would hold for the next",
    ),
    Patch(
        runner,
        "_run_benchmark_single_param",
        lambda run: lambda *args, **kwargs: current().around_point(run)(*args, **kwargs),
        "asv saves a release when all its points are done: each is written to a journal first",
    ),
)
