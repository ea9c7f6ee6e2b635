"""Saving of asv's results: nothing measured is lost, nothing empty is written.

asv rewrites a result file with the values of the last run alone. The patches of this module are
around the places where asv takes in, writes and removes a result, so that

- a run in which nothing was measured (a failed install) leaves no file behind;
- a value once measured is not replaced by a skip, a failure or a quick look of a later run;
- an unsteady point does not replace a steady one (`remeasured_points`);
- samples are kept, and intervals are of log seconds: above zero, and finite as JSON demands;
- values that the run did not measure stay as they are on the disk, where other commands may have
  written since the run began;
- files appear whole or not at all, one writer at a time;
- raw seconds, yardstick readings and fingerprints are filed next to the result;
- the run's journal goes last: a save that fails, or is killed, leaves all points in it.

asv offers no hook here, hence the wrapping; tests pin the asv version's behaviour.
"""

import os
from collections.abc import Callable, Collection
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import asv
from asv.commands.rm import Rm
from asv.console import log
from asv.machine import Machine
from asv.results import Results, iter_results
from asv.util import UserError

from deepbench_ops.asv_adapter import private_result_fields, result_files, result_merging, run_hooks
from deepbench_ops.asv_adapter.patch_installation import Function, Patch
from deepbench_ops.asv_adapter.remeasured_points import Remeasured
from deepbench_ops.errors import DeepbenchError, remedy
from deepbench_ops.machine import machine_profile, nominal_measurement, state_profile
from deepbench_ops.measure import fingerprint, nominal_readings, threads, yardstick
from deepbench_ops.storage import atomic_write, conflict_files, locks, measurement_files

CHOICES = "choose by benchmark, commit_hash or a field of machine.json, such as machine=NAME"
"""The mend of a pattern that `asv rm` cannot use."""

saved_files: list[Path] = []
"""The result files that this process has saved measurements in."""

remeasured = Remeasured()
"""The points that this process has measured although a steady one was stored."""


def _keeping_samples(add_result: Callable[..., None]) -> Callable[..., None]:
    """Wrap asv's taking in of a benchmark's answers: samples are kept.

    ``added`` notes whether samples of a benchmark join the stored ones: from the second round on
    asv appends to its own samples, so that only its first call for a benchmark shows that.
    """

    def wrapped(self: Results, benchmark: dict[str, Any], *args: Any, **kwargs: Any) -> None:
        kwargs["record_samples"] = True
        added = getattr(self, "added", {})
        added.setdefault(benchmark["name"], kwargs.get("append_samples", False))
        self.added = added
        _note(self, benchmark["name"], benchmark["params"], kwargs.get("selected_idx"))
        add_result(self, benchmark, *args, **kwargs)

    return wrapped


def _noting_removal(remove: Callable[..., None]) -> Callable[..., None]:
    """Wrap the removal of samples: their points count among those that the run changes."""

    def wrapped(self: Results, name: str, selected: Collection[int] | None = None) -> None:
        _note(self, name, self.get_result_params(name), selected)
        remove(self, name, selected)

    return wrapped


def _note(
    results: Results, name: str, params: list[list[str]], selected: Collection[int] | None
) -> None:
    """Add the points of a benchmark to ``changed``; selected: None stands for all."""
    keys = list(product(*params))
    chosen = range(len(keys)) if selected is None else selected
    changed = results.__dict__.setdefault("changed", set())
    changed.update((name, keys[index]) for index in chosen)


def _noting_benchmark(remove: Callable[[Results, str], None]) -> Callable[[Results, str], None]:
    """Wrap the removal of a benchmark, which ``removed`` notes."""

    def wrapped(self: Results, key: str) -> None:
        remove(self, key)
        self.__dict__.setdefault("removed", set()).add(key)

    return wrapped


def _keeping(save: Callable[[Results, str], None]) -> Callable[[Results, str], None]:
    def wrapped(self: Results, result_dir: str) -> None:
        measured_now = hasattr(self, "added")
        if not measured_now and hasattr(self, "removed"):
            _save_without_removed(self, Path(result_dir), save)
            return
        if not measured_now:
            save(self, result_dir)
            return
        try:
            with locks.results(Path(result_dir), doing="asv run"):
                _save(self, Path(result_dir), save)
        except (OSError, DeepbenchError, UserError) as error:
            run = run_hooks.current()
            kept = f"its points are kept in {run.journal_path}: " if run.journal_path else ""
            raise UserError(
                f"{private_result_fields.path_of(self)} is not saved ({_reason(error)}); {kept}"
                "mend that, and the same command goes on from there"
            ) from None

    return wrapped


def _save(results: Results, folder: Path, save: Callable[[Results, str], None]) -> None:
    """Write result and records, and forget the journal last.

    After a kill in between the next run takes the points from the journal and writes the same
    again: two records are the same if benchmark, parameters and start time are.
    """
    run = run_hooks.current()
    path, records = folder / private_result_fields.path_of(results), run.records()
    stored = Results.load(str(path)) if path.exists() else None
    result_merging.merge(results, stored, records)
    if stored and not run.appending:
        records = remeasured.settle(path, results, stored, records, run.last_round)
    if any(True for _ in private_result_fields.each(results)):
        result_merging.set_intervals(results)
        for one in records:
            if "fingerprint" in one:
                one["fingerprint"]["asv"] = asv.__version__
        with atomic_write.together() as ready:
            result_files.write(ready(path), results, save)
            measurement_files.add(measurement_files.file_of(path), records, run.appending, ready)
        saved_files.append(path)
    else:
        log.warning(f"nothing was measured: {path.name} is not written")
    run.forget()


def _save_without_removed(
    results: Results, folder: Path, save: Callable[[Results, str], None]
) -> None:
    """Write a result as `asv rm benchmark=...` leaves it; records and conflicts of removed
    benchmarks go too."""
    path = folder / private_result_fields.path_of(results)
    conflicts = conflict_files.file_of(path)
    filed = conflict_files.load(conflicts)
    kept = {key: each for key, each in filed.versions.items() if key[0] not in results.removed}
    with atomic_write.together() as ready:
        if kept != filed.versions:
            conflict_files.write(conflicts, filed.facts, kept, ready)
        result_files.write(ready(path), results, save)
        measurement_files.remove(measurement_files.file_of(path), results.removed, ready)


def _reason(error: Exception) -> str:
    """Return an error as a part of a line."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def _with_remedy(error: Exception) -> str:
    """Return an error as a line, with what to do where that is known."""
    return _reason(error) + (remedy(error) if isinstance(error, OSError) else "")


def _with_measurements(rm: Callable[[Results, str], None]) -> Callable[[Results, str], None]:
    def wrapped(self: Results, result_dir: str) -> None:
        rm(self, result_dir)
        path = Path(result_dir) / private_result_fields.path_of(self)
        measurement_files.file_of(path).unlink(missing_ok=True)
        conflict_files.file_of(path).unlink(missing_ok=True)

    return wrapped


def _alone(remove: Function) -> Function:
    """Wrap `asv rm`: it is the only writer from its reading to its writing.

    asv compares a pattern with a field that some results lack, and looks for Python's version where
    no result has it.
    """

    def wrapped(cls: type, conf: Any, patterns: list[str], *args: Any, **kwargs: Any) -> Any:
        fields = {each.partition("=")[0] for each in patterns} - {"benchmark", "commit_hash"}
        try:
            if "python" in fields:
                raise UserError(f"asv rm cannot choose by python: {CHOICES}")
            with locks.results(Path(conf.results_dir), doing="asv rm"):
                for each in iter_results(conf.results_dir) if fields else ():
                    if missing := sorted(fields - each.params.keys()):
                        raise UserError(
                            f"asv rm: some results have no field {' or '.join(missing)}: {CHOICES}"
                        )
                return remove(cls, conf, patterns, *args, **kwargs)
        except (OSError, DeepbenchError) as error:
            raise UserError(_with_remedy(error)) from None

    return wrapped


def _with_nominal(save: Callable[[Machine, str], None]) -> Callable[[Machine, str], None]:
    """Wrap asv's saving of the machine: nominal yardstick readings go to the measuring processes.

    asv saves the machine once, when a run begins, before anything is measured. Readings that the
    profile lacks are taken then, and stored.
    """

    def wrapped(self: Machine, result_dir: str) -> None:
        results, count = Path(result_dir), threads.wanted()
        try:
            with locks.results(results, doing="asv run"):
                known = stored = _profile_of(results, self.machine)
                save(self, result_dir)
                if not set(yardstick.KINDS) <= set(known.nominal(count, yardstick.VERSION)):
                    log.info(f"Reading the yardsticks of this machine, {count} threads")
                    before = state_profile.latencies(count)
                    at = state_profile.level_now(known, before)
                    fresh = nominal_measurement.reads_all(known, count, renew=False, at=at)
                    readings = nominal_measurement.yardsticks(
                        count, known, renew=False, warn=log.warning, at=at
                    )
                    known = replace(known, yardstick_version=yardstick.VERSION, yardsticks=readings)
                    known = state_profile.with_state(known, count, before, fresh, log.warning)
                elif known.levels:
                    before = state_profile.latencies(count)
                    known = state_profile.with_state(known, count, before, False, log.warning)
                if known != stored:
                    machine_profile.write(results, known)
        except (OSError, DeepbenchError) as error:
            raise UserError(_with_remedy(error)) from None
        os.environ[nominal_readings.VARIABLE] = known.for_processes(yardstick.VERSION)

    return wrapped


def _profile_of(results: Path, machine: str) -> machine_profile.Profile:
    """Return the machine's profile, a new one where it has none.

    Raises DeepbenchError where it is of another processor.
    """
    new = machine_profile.Profile(machine, facts={"processor": fingerprint.silicon()})
    known = machine_profile.read(results, machine) or new
    machine_profile.refuse_another(known, fingerprint.silicon())
    return known


PATCHES = (
    Patch(
        Results,
        "add_result",
        _keeping_samples,
        "asv drops samples unless it is asked to record them, and does not list a run's changes",
    ),
    Patch(
        Results,
        "remove_samples",
        _noting_removal,
        "samples that a run removes to begin again count among its changes",
    ),
    Patch(
        Results,
        "remove_result",
        _noting_benchmark,
        "raw seconds and conflicts of a benchmark that `asv rm` removes are removed with it",
    ),
    Patch(
        Results,
        "save",
        _keeping,
        "asv replaces a result file by the values of the last run, and writes it where nothing was "
        "measured",
    ),
    Patch(
        Results,
        "rm",
        _with_measurements,
        "the raw seconds and conflicts next to a result are removed with it",
    ),
    Patch(Rm, "run", _alone, "`asv rm` reads and writes results without a lock"),
    Patch(
        Machine,
        "save",
        _with_nominal,
        "the nominal yardstick readings are known to the processes that measure",
    ),
)
