"""Entry point of asv, which ``"plugins": [".deepbench_ops.asv_adapter.plugin"]`` loads.

asv finds repositories, environments and publishers among the subclasses of its own, so importing
them is all their registration. Like `cli.py`, this module may import every folder.
"""

import atexit
import os
import secrets
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from asv.console import log

from deepbench_ops import process_lifetime
from deepbench_ops.asv_adapter import (
    asv_environment,
    history_join,
    patch_table,
    release_repository,
    release_tables,
    result_saving,
    run_command,
    run_hooks,
)
from deepbench_ops.asv_adapter.publishing import publish_command
from deepbench_ops.backends import framework_list, reference_cache, run_cache
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.measure import record_handover
from deepbench_ops.measure.kernel_identity import KernelIdentity
from deepbench_ops.problems import family_list
from deepbench_ops.releases import release_table, table_location
from deepbench_ops.releases.release_table import Release

REFERENCES = Path(".asv", "references")
"""Folder of expected values that runs share; see `backends.reference_cache`."""

__all__ = ["asv_environment", "release_repository", "setup"]


def setup() -> None:
    """Prepare this process for asv, which calls this in the folder of its configuration."""
    for line in (
        *family_list.found()[1],
        *framework_list.found()[1],
        *release_table.of_plugins()[1],
    ):
        log.warning(line)
    process_lifetime.bind_forks()
    # One spool for each asv process, never used before: a killed one may have left records in its.
    spool = (run_command.SPOOLS / f"{os.getpid()}-{secrets.token_hex(8)}").resolve()
    os.environ[record_handover.SPOOL_VARIABLE] = str(spool)
    os.environ[run_cache.FOLDER_VARIABLE] = str(spool / "answers")
    os.environ[reference_cache.FOLDER_VARIABLE] = str(REFERENCES.resolve())
    atexit.register(shutil.rmtree, spool, ignore_errors=True)
    run_hooks.begin(spool)
    install()


def install() -> None:
    """Install the table of patches, and register the functions of later folders."""
    run_command.use(report_unsteady)
    release_tables.use(table_remarks)
    history_join.use(history_join.Joiner(join_history, forecast_joining))
    publish_command.use(own_pages)
    patch_table.install()


def own_pages(conf: Any, releases: Sequence[Release] | None) -> publish_command.OwnPages:
    """Return our own pages of one publishing; their libraries are imported for that alone."""
    from deepbench_ops.pages.site_publication import SitePublication

    return SitePublication(conf, releases)


def join_history(joining: history_join.Joining) -> Mapping[str, set[KernelIdentity]]:
    """Measure the kernels that join a history; see `analysis.new_release_measurement`."""
    from deepbench_ops.analysis import new_release_measurement

    return new_release_measurement.measure(joining, log.info, run_hooks.current().until)


def forecast_joining(joining: history_join.Joining) -> Mapping[KernelIdentity, float]:
    """Return the seconds of joining kernels; see `analysis.new_release_measurement`."""
    from deepbench_ops.analysis import new_release_measurement

    return new_release_measurement.forecast(joining)


def table_remarks(results: Path, machine: str, commits: Sequence[str]) -> list[str]:
    """Return remarks below asv's tables of releases; see `analysis.asv_table_remarks`."""
    from deepbench_ops.analysis import asv_table_remarks

    try:
        releases = {release.hash: release for release in table_location.load(results)}
        return asv_table_remarks.of_releases(results, machine, commits, releases)
    except DeepbenchError as error:
        return [str(error)]


def report_unsteady(results: Path) -> None:
    """Report how many points of the releases just measured are unsteady, stored or not."""
    from deepbench_ops.analysis import unsteady_list

    try:
        releases = {release.hash: release for release in table_location.load(results)}
        for line in unsteady_list.after_run(result_saving.saved_files, releases):
            log.warning(line)
        for line in unsteady_list.not_taken(result_saving.remeasured.not_taken, releases):
            log.warning(line)
    except DeepbenchError as error:
        log.warning(str(error))
