"""A release as one side of a pair: its environment, made if need be, and how to start it."""

from pathlib import Path

from asv.util import UserError

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.measure.live import Launch
from deepbench_ops.releases.install import Installation, project_root
from deepbench_ops.releases.table import Release

FOLDER = Path(".asv", "env")
"""Where asv.conf.json lets the environments of releases lie."""


def launch(release: Release, folder: Path = FOLDER) -> Launch:
    """Return how to start a worker of a release; its environment is made where there is none.

    Raises DeepbenchError where the release cannot be installed.
    """
    try:
        installation = Installation(release, folder.resolve(), project_root())
        installation.ensure()
    except UserError as error:
        raise DeepbenchError(str(error)) from None
    return Launch(
        str(installation.python),
        {"DEEPBENCH_FRAMEWORK": release.framework, "DEEPBENCH_RELEASE": release.name},
    )
