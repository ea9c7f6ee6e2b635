"""Corrections of `asv run`: which releases it takes, that it runs alone, and its questions.

`asv find` measures too, alone and under the same notices. It is a search: it keeps no records, so
its times are not stored.

Without a range asv takes each branch's newest release: a framework all of whose releases are
measured on request has none, and is left out. Existing interpreters (-E existing) take no range.
EXISTING has published releases, at which asv would stop. TAGS hands on tag names where hashes are
needed, and asv files the results where nothing finds them. ``--parallel`` builds in other
processes, whose switch to a release this one would not see; there is one environment to build at a
time, so nothing is lost by building here.
"""

import hashlib
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from asv import environment
from asv.commands.find import Find
from asv.commands.run import Run
from asv.config import Config
from asv.console import log
from asv.repo import get_repo
from asv.results import get_existing_hashes
from asv.util import UserError

from deepbench_ops.asv_adapter import (
    asv_environment,
    history_join,
    machine_command,
    machine_entry,
    release_repository,
    run_forecast,
    run_hooks,
    socket_path,
)
from deepbench_ops.asv_adapter.patch_installation import Function, Patch
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.machine import machine_profile
from deepbench_ops.measure import (
    device_yardsticks,
    library_variables,
    processor_quota,
    threads,
    yardstick,
)
from deepbench_ops.run_conditions import DEVICE
from deepbench_ops.storage import locks

SPOOLS = Path(".asv", "spool")
"""Holds a folder for each asv process, into which measuring processes write their records."""

ASKED = ("steps", "date_period", "bench", "append_samples", "env_spec", "set_commit_hash")
"""Options of `asv run`, next to its range, that choose the points to measure."""

AfterRun = Callable[[Path], None]

_after_run: list[AfterRun] = []


def use(after_run: AfterRun) -> None:
    """Call a function with the results folder whenever releases have been measured."""
    if after_run not in _after_run:
        _after_run.append(after_run)


def _of_releases(run: Function) -> Function:
    """Wrap `asv run`."""

    def wrapped(cls: type, conf: Config, range_spec: Any = None, **kwargs: Any) -> Any:
        _prepare(conf, kwargs)
        ongoing = run_hooks.current()
        if kwargs.get("quick"):
            # It has one round. asv would remove samples in the others, and join the quick one.
            kwargs["interleave_rounds"] = False
        existing = _is_existing(conf, kwargs)
        ongoing.saving = not existing and not kwargs.get("dry_run", False)
        ongoing.appending_to = Path(conf.results_dir) if kwargs.get("append_samples") else None
        ongoing.command = _digest(range_spec, kwargs)
        ongoing.until = run_hooks.limit(os.environ)
        releases = conf.dvcs == release_repository.ReleaseRepo.dvcs and not existing
        if releases:
            kwargs["parallel"] = 1
            if range_spec is None:
                range_spec = get_repo(conf).newest_of(conf.branches)
            elif range_spec == "TAGS":
                range_spec = get_repo(conf).measurable()
            elif range_spec == "EXISTING":
                range_spec = get_repo(conf).measurable_of(get_existing_hashes(conf.results_dir))
            for commit in history_join.hashes(conf, range_spec):
                asv_environment.demand_measurable(get_repo(conf).release(commit))
        resolved = history_join.hashes(conf, range_spec) if releases else ()
        framework = _framework(conf) if releases else lambda commit: ""
        question = run_forecast.Question(framework, kwargs, frozenset(resolved))
        with only_measurement(ongoing.spool):
            with run_forecast.asking(question):
                status = run(cls, conf, range_spec=range_spec, **kwargs)
            if ongoing.saving:
                ongoing.end()
        for after_run in _after_run if releases else ():
            after_run(Path(conf.results_dir))
        return status

    return wrapped


def _storing_nothing(find: Function) -> Function:
    """Wrap `asv find`."""

    def wrapped(cls: type, conf: Config, *args: Any, **kwargs: Any) -> Any:
        _prepare(conf, kwargs)
        if not kwargs.get("skip_save"):
            log.info("asv find stores none of its times: asv run measures releases and stores them")
        kwargs["skip_save"] = True
        with only_measurement(run_hooks.current().spool):
            return find(cls, conf, *args, **kwargs)

    return wrapped


def _prepare(conf: Config, options: Mapping[str, Any]) -> None:
    """Name the settings that change all times, before measuring begins.

    Describes an unknown machine, about which asv would ask. Raises UserError where nothing can be
    measured.
    """
    settings = library_variables.notice(library_variables.foreign())
    for notice in filter(None, [settings, processor_quota.notice(threads.wanted())]):
        log.warning(notice)
    socket_path.demand_short(conf, options.get("launch_method"))
    machine_command.demand_same_machine(conf, options.get("machine"))
    for line in without_readings(conf, options.get("machine")):
        log.warning(line)


def _digest(range_spec: Any, options: Mapping[str, Any]) -> str:
    """Return a digest of a command's request: the same for a command that is started again."""
    asked = [range_spec, *(options.get(name) for name in ASKED)]
    return hashlib.sha1(repr(asked).encode(), usedforsecurity=False).hexdigest()


def without_readings(conf: Config, machine: str | None) -> list[str]:
    """Return a line for each device of the configuration whose declared yardstick has no nominal
    reading on the machine, this one where none is named."""
    asked = (conf.matrix or {}).get("env_nobuild", {}).get(DEVICE.variable) or []
    devices = [asked] if isinstance(asked, str) else asked
    known = machine_profile.read(Path(conf.results_dir), machine or machine_entry.default_name())
    read = known.nominal(threads.wanted(), yardstick.VERSION) if known is not None else {}
    return [
        f"{device} has no nominal reading of its yardstick: times are stored as measured, not"
        " calibrated; deepbench machine --yes takes one"
        for device in devices
        if device
        and device_yardsticks.declared(device)
        and not {*yardstick.kinds(device)} <= {*read}
    ]


def _is_existing(conf: Config, options: Mapping[str, Any]) -> bool:
    """Whether a run measures in existing interpreters alone, whose times asv stores nowhere.

    Raises UserError where times are to be stored as those of another release.
    """
    named = options.get("set_commit_hash") is not None
    if named and conf.dvcs == release_repository.ReleaseRepo.dvcs:
        raise UserError(
            "--set-commit-hash: times of a release are measured in its own environment: deepbench"
            " release add RELEASE --python PATH makes an existing interpreter that of a release"
        )
    given = options.get("env_spec")
    found = list(environment.get_environments(conf, given, verbose=False)) if given else []
    return bool(found) and environment.is_existing_only(found) and not named


def _framework(conf: Config) -> Callable[[str], str]:
    """Return a function from a release's commit to its framework."""
    return lambda commit: get_repo(conf).release(commit).framework


@contextmanager
def only_measurement(spool: Path) -> Iterator[None]:
    """Be the only run that measures in this project; spools of killed ones are removed.

    Raises UserError where another one measures.
    """
    command = " ".join(["asv", *sys.argv[1:]])
    try:
        with locks.measuring(SPOOLS.parent, doing=command):
            for left in SPOOLS.glob("*"):
                if left.resolve() != spool:
                    shutil.rmtree(left, ignore_errors=True)
            yield
    except DeepbenchError as error:
        raise UserError(str(error)) from None


PATCHES = (
    Patch(
        Run,
        "run",
        _of_releases,
        "asv takes tags for hashes, builds in other processes, and lets two runs disturb each "
        "other",
    ),
    Patch(
        Find,
        "run",
        _storing_nothing,
        "`asv find` asks for the description of an unknown machine, names no external setting, "
        "measures while another run does, and replaces stored times without their records",
    ),
)
