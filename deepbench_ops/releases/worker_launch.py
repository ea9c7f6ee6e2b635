"""Launch of a release's worker, one side of a pair: its environment, made if needed, and start."""

import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

from deepbench_ops import project
from deepbench_ops.backends import reference_cache, run_cache
from deepbench_ops.measure.worker_control import Launch
from deepbench_ops.releases import release_table, table_location
from deepbench_ops.releases.environment_install import project_root
from deepbench_ops.releases.installed_release import installation
from deepbench_ops.releases.release_table import Release


def launch(
    release: Release,
    folder: Path | None = None,
    say: Callable[[str], object] = lambda line: None,
) -> Launch:
    """Return how to start a worker of a release; its environment is made where there is none.

    folder: of environments, the project's unless given. say: is called with a line before
    anything is installed. All workers of this release that this process starts share the checks
    that it has passed: the rounds of a history do not repeat them. Raises DeepbenchError where the
    release cannot be installed.
    """
    folder = project.environments() if folder is None else folder
    environment = installation(release, folder.resolve(), project_root())
    if not environment.is_complete():
        say(environment.announcement)
    environment.ensure()
    return Launch(
        str(environment.python),
        {
            "DEEPBENCH_FRAMEWORK": release.framework,
            "DEEPBENCH_RELEASE": release.name,
            reference_cache.FOLDER_VARIABLE: str(folder.resolve().parent / "references"),
            run_cache.FOLDER_VARIABLE: str(Path(_answers().name, release.name)),
        },
    )


def of_name(name: str, say: Callable[[str], object] = lambda line: None) -> Launch:
    """Return the same for the release of that name in the project's table.

    Raises DeepbenchError for an unknown one as well.
    """
    known = release_table.measurable(table_location.of_project())
    return launch(release_table.find(name, known), say=say)


@cache
def _answers() -> tempfile.TemporaryDirectory[str]:
    """Return the folder of passed checks and estimates, by release; it ends with this process."""
    return tempfile.TemporaryDirectory(prefix="deepbench-", ignore_cleanup_errors=True)
