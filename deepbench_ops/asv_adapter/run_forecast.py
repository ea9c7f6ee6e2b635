"""Forecast of the seconds that an `asv run` takes, over all its releases, before it begins."""

import os
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from statistics import fmean
from typing import Any

import orjson
from asv.benchmarks import Benchmarks
from asv.config import Config
from asv.console import log
from asv.results import iter_results_for_machine_and_hash
from asv.util import UserError

from deepbench_ops.asv_adapter import history_join, machine_entry, run_hooks
from deepbench_ops.asv_adapter.asv_environment import is_of_this_process
from deepbench_ops.asv_adapter.history_join import JoiningPlan
from deepbench_ops.asv_adapter.patch_installation import Function, Patch
from deepbench_ops.asv_adapter.run_hooks import YES_VARIABLE
from deepbench_ops.asv_adapter.run_progress import duration_text
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.storage import json_lines, measurement_files
from deepbench_ops.storage.result_key import ResultKey

LONG_SECONDS = 3600.0
"""A run that takes longer is asked about first."""

POINT_SECONDS = 3.0
"""Seconds of a point without records of its kind."""

PROCESS_SECONDS = 0.5
"""Seconds of a point outside of its record: start, imports and end of a process."""

PointKind = tuple[str, ...]
"""A framework, a family and a precision, or the last two."""


@dataclass(frozen=True)
class Question:
    """The question that ends asv's search for benchmarks before a long run.

    framework: returns the framework of a release, by its hash. options: those of `asv run`.
    joining: hashes of the releases that may join a history.
    """

    framework: Callable[[str], str]
    options: Mapping[str, Any]
    joining: frozenset[str] = frozenset()

    def plans(self, conf: Config, hashes: list[str]) -> list[JoiningPlan]:
        """Return a plan for each history that the releases of asv's choice join."""
        commits = [each for each in hashes if each in self.joining]
        return history_join.plans(conf, commits, self.options) if commits else []

    def ask(
        self,
        conf: Config,
        found: Benchmarks,
        environments: int,
        hashes: list[str],
        plans: Sequence[JoiningPlan] = (),
    ) -> None:
        """Ask if the run takes long, with joined histories. Raises UserError where it is not
        wanted, or no one is there to be asked."""
        joined: dict[str, set[ResultKey]] = {}
        for plan in plans:
            joined |= plan.expected
        own = records(Path(conf.results_dir), machine_entry.default_name())
        known = costs(own, bool(self.options.get("quick")))
        points, seconds = 0, 0.0
        for each in hashes:
            whole = _left(conf, found, each, self.options)
            joining = joined.get(each, ())  # in one of the environments
            left = Counter({point: n for point, n in whole.items() if point not in joining})
            points += left.total() + (environments - 1) * whole.total()
            first, other = (forecast(one, self.framework(each), known) for one in (left, whole))
            seconds += first + (environments - 1) * other
        together = [each for plan in plans for each in plan.seconds.values() if each > 0]
        if (seconds := seconds + sum(together)) > LONG_SECONDS:
            demand_consent(points, len(hashes), seconds, len(together))


_question: Question | None = None


@contextmanager
def asking(question: Question) -> Iterator[None]:
    """Let asv's search for benchmarks end with the question, in the block."""
    global _question
    _question = question
    try:
        yield
    finally:
        _question = None


def _ending_with_question(discover: Function) -> Function:
    """Wrap asv's search for benchmarks: it ends with the question, and then measures the
    kernels that join a history, which asv leaves out."""

    def wrapped(
        cls: type, conf: Config, repo: Any, environments: Any, hashes: list[str], **more: Any
    ) -> Any:
        global _question
        question, _question = _question, None  # filing looks for benchmarks again
        found = discover(cls, conf, repo, environments, hashes, **more)
        if question is not None:
            # A history is measured under the conditions of this process, and filed there.
            fits = any(is_of_this_process(each.env_vars) for each in environments)
            plans = question.plans(conf, hashes) if fits else []
            question.ask(conf, found, len(environments), hashes, plans)
            run_hooks.current().joined = history_join.measured(plans)
        return found

    return wrapped


PATCHES = (
    Patch(
        Benchmarks,
        "discover",
        _ending_with_question,
        "a run of hours is asked about, once the number of its points is known, and before the "
        "points that join a history are measured",
    ),
)


def demand_consent(points: int, releases: int, seconds: float, kernels: int = 0) -> None:
    """Ask whether to measure so much. Raises UserError for the answer no, or none.

    kernels: those that join a history, and are none of the points.
    """
    of = "1 release" if releases == 1 else f"{releases} releases"
    named = "1 kernel" if kernels == 1 else f"{kernels} kernels"
    joined = f", and {named} measured together with earlier releases," if kernels else ""
    line = (
        f"{points} points of {of}{joined} take about {duration_text(seconds)}. A selection takes"
        " less: "
        '--bench "$(deepbench select headline --precision float32)"'
    )
    if os.environ.get(YES_VARIABLE) == "1":
        log.info(line)
        return
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UserError(f"{line}. Nothing was measured; {YES_VARIABLE}=1 measures them all")
    log.info(line)
    log.flush()
    try:
        answer = input("Measure them all? [y/N] ")
    except EOFError:
        answer = ""
    if answer.strip().lower() not in ("y", "yes"):
        raise UserError("nothing was measured")


def forecast(points: Counter[ResultKey], framework: str, costs: Mapping[PointKind, float]) -> float:
    """Return the expected seconds of a release's points, given how often each is measured."""
    return sum(times * _cost(point, framework, costs) for point, times in points.items())


def costs(records: Iterable[Mapping[str, Any]], quick: bool = False) -> dict[PointKind, float]:
    """Return the mean seconds of a point of each kind, skipped points included.

    quick: without the seconds of measuring, since a quick run times a single call.
    """
    parts = ("preparing", "checking") if quick else ("preparing", "measuring", "checking")
    found: dict[PointKind, list[float]] = defaultdict(list)
    for record in records:
        spent = record.get("spent", {})
        seconds = PROCESS_SECONDS + sum(spent.get(part, 0.0) for part in parts)
        kind = _kind(record["benchmark"], record["params"])
        found[kind].append(seconds)
        found[record["release"].partition("-")[0], *kind].append(seconds)
    return {kind: fmean(each) for kind, each in found.items()}


def _cost(point: ResultKey, framework: str, costs: Mapping[PointKind, float]) -> float:
    kind = _kind(*point)
    return costs.get((framework, *kind), costs.get(kind, POINT_SECONDS))


def _kind(name: str, params: Sequence[Any]) -> PointKind:
    return name.partition(".")[0], str(params[1]) if len(params) > 1 else ""


def _left(
    conf: Config,
    found: Benchmarks,
    hash: str,
    options: Mapping[str, Any],
) -> Counter[ResultKey]:
    """Return how often each point of a release is to be measured in an environment."""
    there = _there(conf, found, hash, options)
    extra = {**(options.get("attribute") or {}), **({"rounds": 1} if options.get("quick") else {})}
    left: Counter[ResultKey] = Counter()
    for name, benchmark in found.items():
        if name in there:
            continue
        for point in run_hooks.selected(benchmark, found.benchmark_selection.get(name)):
            left[point] += run_hooks.rounds(benchmark, None, extra)
    return left


def _there(conf: Config, found: Benchmarks, hash: str, options: Mapping[str, Any]) -> set[str]:
    """Return the benchmarks that the run leaves out since they have results."""
    wanted = ("skip_existing_commits", "skip_successful", "skip_failed")
    all_of_it, successful, failed = (bool(options.get(name)) for name in wanted)
    if not (all_of_it or successful or failed):
        return set()
    there: set[str] = set()
    machine = options.get("machine") or machine_entry.default_name()
    try:
        for result in iter_results_for_machine_and_hash(conf.results_dir, machine, hash):
            for name in result.get_result_keys(found):
                values = result.get_result_value(name, found[name]["params"])
                if all_of_it or (failed if None in values else successful):
                    there.add(name)
    except OSError:
        return set()
    return set(found) if there and all_of_it else there


def records(results: Path, machine: str) -> Iterator[dict[str, Any]]:
    """Yield the records of a machine's points; where it has none, those of all machines."""
    files = measurement_files.paths(results / machine)
    for path in files or chain.from_iterable(
        map(measurement_files.paths, sorted(results.glob("*")))
    ):
        try:
            lines = measurement_files.content(path).splitlines()
        except DeepbenchError:
            continue  # publishing and importing name damaged files
        for record in json_lines.objects(lines, orjson.loads):  # importing names damaged lines
            if {"benchmark", "params", "release"} <= record.keys():
                yield record
