"""The table of patches: every attribute of asv that this project replaces, and why.

asv has no hook in these places, so it is wrapped, not forked. The functions lie in the modules
that the rows come from. `python -m deepbench_ops.asv_adapter` prints the table.
"""

from deepbench_ops.asv_adapter import (
    asv_commands,
    asv_files,
    asv_tables,
    forecast,
    machine_entry,
    patch,
    published_suite,
    run_command,
    saving,
    watch,
)
from deepbench_ops.asv_adapter.patch import Patch
from deepbench_ops.asv_adapter.publishing import publish_command

TABLE: tuple[Patch, ...] = (
    *asv_files.PATCHES,
    *machine_entry.PATCHES,
    *saving.PATCHES,
    *asv_tables.PATCHES,
    *published_suite.PATCHES,
    *watch.PATCHES,
    *forecast.PATCHES,
    *run_command.PATCHES,
    *publish_command.PATCHES,
    *asv_commands.PATCHES,
    *publish_command.WHILE_PUBLISHING,
)
"""In the order in which they are put in force: later ones are around earlier ones."""


def install() -> None:
    """Put in force what holds as long as the process; a second call changes nothing."""
    patch.install(row for row in TABLE if row.scope == patch.PROCESS)
