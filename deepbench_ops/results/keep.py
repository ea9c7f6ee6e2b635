"""The seam between asv and the disk: nothing measured is lost, nothing empty is written.

asv rewrites a result file with whatever the last run produced. Installed by the asv plugin,
this module wraps the places where asv takes in, writes and removes a result, so that

- a run in which nothing was measured (a failed install) leaves no file behind;
- a value once measured is not replaced by a skip, a failure or a quick look of a later run;
- samples are kept, and intervals are of log seconds: above zero, and finite as JSON demands;
- files appear whole or not at all;
- raw seconds, yardstick readings and fingerprints are filed beside the result.

asv offers no hook here, hence the wrapping; tests pin the asv version's behaviour.
"""

import json
import math
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import product, zip_longest
from pathlib import Path
from typing import Any

import asv
from asv.console import log
from asv.machine import Machine
from asv.results import Results
from asv.util import UserError

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.machine import profile, survey
from deepbench_ops.measure import fingerprint, kernel_run, threads, yardstick
from deepbench_ops.results import measurements
from deepbench_ops.statistics.intervals import log_interval

INTERVALS = ("ci_99_a", "ci_99_b")

# asv needs a finite interval of every value. Where samples are too few for one it reaches from this
# part of the value to this multiple of it: beyond any difference between releases. asv weighs a
# point by the width of its interval, and its search for steps does not end where the weights of one
# series lie hundreds of orders of magnitude apart.
WIDEST = 1e6


def install(records: Callable[[], list[dict[str, Any]]]) -> None:
    """Wrap asv's saving, once per process; `records` hands over those of the run being saved."""
    if getattr(Results.save, "keeps", False):
        return
    Results.add_result = _keeping_samples(Results.add_result)
    Results.save = _keeping(Results.save, records)
    Results.rm = _with_measurements(Results.rm)
    Machine.save = _with_nominal(_atomic(Machine.save))


def _keeping_samples(add_result: Callable[..., None]) -> Callable[..., None]:
    """Keep samples, and note in ``appends`` whether they join those of an earlier run.

    From the second round on asv appends to its own first: what it does with a benchmark first
    tells whether it was asked to.
    """

    def wrapped(self: Results, benchmark: dict[str, Any], *args: Any, **kwargs: Any) -> None:
        kwargs["record_samples"] = True
        added = getattr(self, "added", {})
        added.setdefault(benchmark["name"], kwargs.get("append_samples", False))
        self.added, self.appends = added, any(added.values())
        add_result(self, benchmark, *args, **kwargs)

    return wrapped


def _keeping(
    save: Callable[[Results, str], None], take_records: Callable[[], list[dict[str, Any]]]
) -> Callable[[Results, str], None]:
    write = _atomic(save)

    def wrapped(self: Results, result_dir: str) -> None:
        path = Path(result_dir) / self._filename
        # Taken now, whatever becomes of this result: left behind they would join the next one.
        records = take_records()
        measured_now = hasattr(self, "appends")
        if not measured_now:  # `asv rm` saves what it has thinned out
            write(self, result_dir)
            return
        if path.exists():
            _restore(self, Results.load(str(path)), _looks(records))
        if not any(_measured(values) for values in self._results.values()):
            log.warning(f"nothing was measured: {path.name} is not written")
            return
        _set_intervals(self)
        write(self, result_dir)
        for entry in records:
            if "fingerprint" in entry:
                entry["fingerprint"]["asv"] = asv.__version__
        measurements.add(measurements.beside(path), records, self.appends)

    wrapped.keeps = True  # type: ignore[attr-defined]
    return wrapped


def _with_measurements(rm: Callable[[Results, str], None]) -> Callable[[Results, str], None]:
    def wrapped(self: Results, result_dir: str) -> None:
        rm(self, result_dir)
        measurements.beside(Path(result_dir) / self._filename).unlink(missing_ok=True)

    return wrapped


def _atomic(save: Callable[[Any, str], None]) -> Callable[[Any, str], None]:
    """Let asv write into a folder of its own, then move the files into place."""

    def wrapped(self: Any, result_dir: str) -> None:
        Path(result_dir).mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=result_dir, prefix=".unfinished-") as folder:
            save(self, folder)
            for path in Path(folder).rglob("*.json"):
                target = Path(result_dir) / path.relative_to(folder)
                target.parent.mkdir(exist_ok=True)
                path.replace(target)

    return wrapped


def _with_nominal(save: Callable[[Machine, str], None]) -> Callable[[Machine, str], None]:
    """Hand the machine's nominal yardstick readings down to the processes that measure.

    asv saves the machine once, as a run begins: the one moment at which its name is known and
    nothing has been measured. Readings that the profile lacks are taken then, and kept.
    """

    def wrapped(self: Machine, result_dir: str) -> None:
        results, count = Path(result_dir), threads.wanted()
        known = _profile_of(results, self.machine)
        save(self, result_dir)
        if set(known.nominal(count, yardstick.VERSION)) != set(yardstick.KINDS):
            log.info(f"Reading the yardsticks of this machine, {count} threads")
            readings = survey.yardsticks(count, known, renew=False)
            known = replace(known, yardstick_version=yardstick.VERSION, yardsticks=readings)
            profile.write(results, known)
        nominal = {
            threads_text: known.nominal(int(threads_text), yardstick.VERSION)
            for threads_text in known.yardsticks
        }
        os.environ[kernel_run.NOMINAL_VARIABLE] = json.dumps(nominal)

    return wrapped


def _profile_of(results: Path, machine: str) -> profile.Profile:
    """Return the machine's profile, a new one where it has none; UserError if not this one's."""
    new = profile.Profile(machine, facts={"processor": fingerprint.silicon()})
    try:
        known = profile.read(results, machine) or new
        profile.refuse_another(known, fingerprint.silicon())
    except DeepbenchError as error:
        raise UserError(str(error)) from None
    return known


def _measured(values: list[float | None] | None) -> bool:
    return any(value is not None and not math.isnan(value) for value in values or [])


Key = tuple[str, tuple[str, ...]]
"""A benchmark, and its parameters as asv writes them."""


def _looks(records: list[dict[str, Any]]) -> dict[Key, bool]:
    """Return of each kernel that was measured whether that was a quick look."""
    return {
        (entry["benchmark"], tuple(map(repr, entry["params"]))): "quick" in entry
        for entry in records
        if "skipped" not in entry
    }


def _restore(new: Results, old: Results, looks: Mapping[Key, bool]) -> None:
    """Put back every number of ``old`` for which ``new`` holds less.

    Less is a skip, a failure, or a quick look where there were several samples. What leaves no
    record, as another type of benchmark, was a quick look if it is a single sample; of a kernel
    of long calls that is a whole measurement.
    """
    for name, values in old._results.items():
        if name not in new._results:
            for kind in ("_results", "_samples", "_stats", "_benchmark_params", "_started_at"):
                getattr(new, kind)[name] = getattr(old, kind).get(name)
            new._benchmark_version[name] = old._benchmark_version.get(name)
        elif new._benchmark_version.get(name) == old._benchmark_version.get(name) and values:
            _restore_values(new, old, name, looks)


def _restore_values(new: Results, old: Results, name: str, looks: Mapping[Key, bool]) -> None:
    where = {key: i for i, key in enumerate(product(*old._benchmark_params[name]))}
    keys = list(product(*new._benchmark_params[name]))
    columns = {}
    for kind in ("_results", "_samples", "_stats"):
        column = getattr(new, kind).get(name)
        columns[kind] = list(column) if column else [None] * len(keys)
    kept = 0
    for i, key in enumerate(keys):
        j = where.get(key)
        if j is None or not _measured([old._results[name][j]]):
            continue
        quick = looks.get((name, key), _samples_at(columns["_samples"], i) == 1)
        fewer = quick and _samples_at(old._samples.get(name), j) > 1
        if _measured([columns["_results"][i]]) and not fewer:
            continue
        for kind, column in columns.items():
            held = getattr(old, kind).get(name)
            column[i] = held[j] if held else None
        kept += 1
    if kept:
        for kind, column in columns.items():
            getattr(new, kind)[name] = column


def _samples_at(samples: list[list[float] | None] | None, index: int) -> int:
    return len(samples[index] or []) if samples else 0


def _set_intervals(results: Results) -> None:
    """Store intervals of log seconds, which are above zero, in place of those that asv made."""
    for name, stats in results._stats.items():
        columns = results._results[name] or (), stats or (), results._samples.get(name) or ()
        for value, entry, samples in zip_longest(*columns):
            if entry and value:
                bounds = log_interval(samples) or (value / WIDEST, value * WIDEST)
                entry.update(zip(INTERVALS, bounds, strict=True))
