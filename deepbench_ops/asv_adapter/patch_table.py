"""The table of patches: every attribute of asv that this project replaces, and why.

asv has no hook in these places, so it is wrapped, not forked. The functions lie in the modules
that the rows come from. `python -m deepbench_ops.asv_adapter` prints the table,
and from publishing_times.txt the times of publishing with and without the speed-ups.
"""

from deepbench_ops.asv_adapter import (
    asv_commands,
    asv_result_tables,
    atomic_asv_json,
    machine_command,
    machine_entry,
    patch_installation,
    published_benchmarks,
    release_tables,
    result_saving,
    run_command,
    run_forecast,
    run_hooks,
)
from deepbench_ops.asv_adapter.patch_installation import Patch
from deepbench_ops.asv_adapter.publishing import publish_command

TABLE: tuple[Patch, ...] = (
    *atomic_asv_json.PATCHES,
    *machine_entry.PATCHES,
    *result_saving.PATCHES,
    *asv_result_tables.PATCHES,
    *published_benchmarks.PATCHES,
    *run_hooks.PATCHES,
    *run_forecast.PATCHES,
    *run_command.PATCHES,
    *publish_command.PATCHES,
    *machine_command.PATCHES,
    *release_tables.PATCHES,
    *asv_commands.PATCHES,
    *publish_command.WHILE_PUBLISHING,
)
"""In the order in which they are put in force: later ones are around earlier ones."""


def install() -> None:
    """Put the patches of scope PROCESS in force; a second call changes nothing."""
    patch_installation.install(row for row in TABLE if row.scope == patch_installation.PROCESS)
