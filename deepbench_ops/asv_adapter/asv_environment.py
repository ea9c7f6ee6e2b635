"""Environments of asv, one for each release.

asv installs its project again for each commit, into one environment per configuration. Here every
release has an environment of its own, and "installing" one that exists only switches to it. Rounds
of old and new releases can therefore alternate, which cancels the drift of a machine.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from asv.config import Config
from asv.console import log
from asv.environment import Environment, EnvironmentUnavailable
from asv.repo import Repo
from asv.util import ProcessError, UserError

from deepbench_ops.asv_adapter import configuration_check
from deepbench_ops.asv_adapter.release_repository import ReleaseRepo
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.measure.core_choice import VARIABLE as CORES
from deepbench_ops.releases.environment_install import Installation, project_root
from deepbench_ops.releases.installed_release import installation
from deepbench_ops.releases.release_table import Release
from deepbench_ops.run_conditions import CONDITIONS

# asv makes the Python version part of every graph's identity, so an upgrade would start every
# line again. The fingerprint of each result holds the true version.
PYTHON = "3"


class NotInstalled(ProcessError, UserError):
    """A release that could not be installed, for asv; its text is the one line to print.

    ``asv run`` goes on with the other releases after a ProcessError. The commands that do not
    expect one print a UserError as it stands.
    """

    def __init__(self, line: str) -> None:
        super().__init__([], 1, "", "")
        self.line = line

    def __str__(self) -> str:
        return self.line


class ReleaseEnvironment(Environment):
    """Environment of the release that was installed last."""

    tool_name = "release"
    matches_python_fallback = False

    _failures: ClassVar[dict[Path, str]] = {}
    """Installs that failed in this process: not worth another try in its next round."""

    def __init__(
        self,
        conf: Config,
        python: str,
        requirements: dict[str, str],
        tagged_env_vars: dict[tuple[str, str], str],
    ) -> None:
        try:
            configuration_check.check(vars(conf))
            self._project_root = project_root()
        except DeepbenchError as error:
            raise UserError(str(error)) from None
        if python != PYTHON:
            raise EnvironmentUnavailable(
                f"environment type 'release' has no Python {python!r}: releases are measured "
                f"with the Python that runs asv, and it is written {PYTHON!r}"
            )
        _refuse_hidden_axes(tagged_env_vars)
        self._release: Release | None = None
        self._requirements: dict[str, str] = {}
        super().__init__(conf, PYTHON, self._requirements, tagged_env_vars)

    @classmethod
    def matches(cls, python: str) -> bool:
        return python == PYTHON

    @property
    def release(self) -> Release | None:
        """The release that benchmarks run with now; None before the first install."""
        return self._release

    def create(self) -> None:
        """Do nothing: an environment is made when its release is installed."""

    def check_presence(self) -> bool:
        return True

    def install_project(self, conf: Config, repo: Repo, commit_hash: str) -> None:
        """Switch to a release; its environment is made first where there is none.

        Raises
        ------
        NotInstalled
            The release cannot be installed. It is logged once, and the same error is raised again
            later, without another try.
        """
        if not isinstance(repo, ReleaseRepo):
            raise UserError(
                f'environment type \'release\' needs "dvcs": "{ReleaseRepo.dvcs}" in the '
                "configuration"
            )
        self._leave()
        release = repo.release(commit_hash)
        demand_measurable(release)
        environment = self._installation(release)
        if environment.path in self._failures:
            raise NotInstalled(self._failures[environment.path])
        if not environment.is_complete():
            log.info(f"Installing {environment.release.name}")
        try:
            environment.ensure()
        except DeepbenchError as error:
            self._failures[environment.path] = str(error)
            log.error(str(error))
            raise NotInstalled(str(error)) from None
        self._enter(environment)

    def run(self, args: list[str], **kwargs: Any) -> Any:
        """Run the release's Python, with variables that asv does not pass on itself."""
        if self._release is None:
            raise UserError("no release is installed: name one, such as `asv run numpy-2.2.6`")
        env = dict(kwargs.pop("env", os.environ))
        env["DEEPBENCH_FRAMEWORK"] = self._release.framework
        env["DEEPBENCH_RELEASE"] = self._release.name
        env.setdefault("DEEPBENCH_SPOOL", str(Path(self._path, "spool")))
        return self.run_executable("python", args, env=env, **kwargs)

    def _installation(self, release: Release) -> Installation:
        folder = Path(self._env_dir).resolve()
        return installation(release, folder, self._project_root, self._install_timeout)

    def _enter(self, installation: Installation) -> None:
        self._release = installation.release
        self._path = str(installation.path)
        self._global_env_vars["ASV_ENV_DIR"] = self._path
        self._set_commit_hash(installation.release.hash)

    def _leave(self) -> None:
        self._release = None
        self._set_commit_hash(None)

    def _get_installed_commit_hash(self) -> str | None:
        return self._release.hash if self._release else None


def is_of_this_process(variables: Mapping[str, str]) -> bool:
    """Return whether an environment with these variables measures under the run conditions and on
    the cores that this process has: its own times are filed there."""
    cores = os.environ.get(CORES, "")
    return variables.get(CORES, cores) == cores and all(
        condition.of(variables) == condition.of(os.environ) for condition in CONDITIONS
    )


def demand_measurable(release: Release) -> None:
    """Raise UserError, with the reason, for a release that can be shown but not measured."""
    if not release.measurable:
        raise UserError(
            f"{release.why_not_measured}: {release.name} can be shown and compared, but not"
            " measured"
        )


def _refuse_hidden_axes(tagged_env_vars: dict[tuple[str, str], str]) -> None:
    """Refuse a condition that the environment sets and the configuration leaves out.

    Its results would be filed under the usual condition.
    """
    axes = {name for _, name in tagged_env_vars}
    for condition in CONDITIONS:
        name = condition.variable
        if condition.of(os.environ) != condition.usual and name not in axes:
            raise UserError(
                f"{name} is set to {os.environ[name]!r} in the environment, and its results would "
                f"be filed under the usual {condition.name}, {condition.usual}: unset it, and add "
                f"{name} to matrix in asv.conf.json, whose comments show how"
            )
