"""What asv loads by ``"plugins": [".deepbench_ops.asv_adapter.plugin"]``.

asv finds repositories, environments and publishers among the subclasses of its own, so importing
them is all their registration.
"""

import atexit
import os
import secrets
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from asv.commands.run import Run
from asv.config import Config
from asv.console import log
from asv.repo import get_repo
from asv.util import UserError

from deepbench_ops import lifetime
from deepbench_ops.asv_adapter import (
    asv_commands,
    asv_tables,
    environment,
    forecast,
    repo,
    saving,
    watch,
)
from deepbench_ops.asv_adapter.publishing import patches as pages
from deepbench_ops.backends import frameworks, run_cache
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.measure import record, settings
from deepbench_ops.problems import families
from deepbench_ops.releases import results_table
from deepbench_ops.storage import locks

__all__ = ["environment", "pages", "repo", "setup"]

SPOOLS = Path(".asv", "spool")


def setup() -> None:
    """Called by asv when it loads the plugin, in the folder of its configuration."""
    for line in (*families.found()[1], *frameworks.found()[1]):
        log.warning(line)
    lifetime.bind_forks()
    # One spool for each asv process, never used before: a killed one may have left records in its.
    spool = (SPOOLS / f"{os.getpid()}-{secrets.token_hex(8)}").resolve()
    os.environ[record.SPOOL_VARIABLE] = str(spool)
    os.environ[run_cache.FOLDER_VARIABLE] = str(spool / "answers")
    atexit.register(shutil.rmtree, spool, ignore_errors=True)
    watching = watch.Watch(spool)
    watch.install(watching)
    saving.install(watching)
    asv_tables.install()
    asv_commands.install()
    run = Run.run.__func__  # type: ignore[attr-defined]
    if not getattr(run, "knows_releases", False):
        Run.run = classmethod(_knowing_releases(run, watching))  # type: ignore[method-assign]


def _knowing_releases(run: Callable[..., Any], watching: watch.Watch) -> Callable[..., Any]:
    """Mend three things ``asv run`` does with releases, let it be the only one that measures, and
    ask before it takes long.

    Without a range it takes each branch's newest: a framework all of whose releases are measured on
    request has none, and is left out. TAGS hands on tag names where hashes are needed, and the
    results are filed where nothing finds them. ``--parallel`` builds in other processes, whose
    switch to a release this one would not see; there is one environment to build at a time, so
    nothing is lost.
    """

    def wrapped(cls: type, conf: Config, range_spec: Any = None, **kwargs: Any) -> Any:
        if notice := settings.notice(settings.foreign()):
            log.warning(notice)
        asv_commands.demand_same_machine(conf, kwargs.get("machine"))
        watching.saving = not kwargs.get("dry_run", False)
        if conf.dvcs == repo.ReleaseRepo.dvcs:
            kwargs["parallel"] = 1
            if range_spec is None:
                range_spec = get_repo(conf).newest_of(conf.branches)
            elif range_spec == "TAGS":
                range_spec = get_repo(conf).measurable()
        with _alone(watching.spool), forecast.asking(_framework(conf), kwargs):
            status = run(cls, conf, range_spec=range_spec, **kwargs)
        if conf.dvcs == repo.ReleaseRepo.dvcs:
            _name_unsteady(Path(conf.results_dir))
        return status

    wrapped.knows_releases = True  # type: ignore[attr-defined]
    return wrapped


def _name_unsteady(results: Path) -> None:
    """Report how many points of the releases just measured are unsteady."""
    from deepbench_ops.analysis import unsteady

    try:
        releases = {release.hash: release for release in results_table.load(results)}
        for line in unsteady.after_run(saving.written, releases):
            log.warning(line)
    except DeepbenchError as error:
        log.warning(str(error))


def _framework(conf: Config) -> Callable[[str], str]:
    """Return a function from a commit to its framework, "" where commits are no releases."""
    if conf.dvcs != repo.ReleaseRepo.dvcs:
        return lambda commit: ""
    return lambda commit: get_repo(conf).release(commit).framework


@contextmanager
def _alone(spool: Path) -> Iterator[None]:
    """Be the only run that measures in this clone; spools of killed ones are removed."""
    command = " ".join(["asv", *sys.argv[1:]])
    try:
        with locks.measuring(SPOOLS.parent, doing=command):
            for left in SPOOLS.glob("*"):
                if left.resolve() != spool:
                    shutil.rmtree(left, ignore_errors=True)
            yield
    except DeepbenchError as error:
        raise UserError(str(error)) from None
