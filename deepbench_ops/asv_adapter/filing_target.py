"""Target of filed ensembles in asv's results: machine, environment and benchmarks of a project.

`asv run` finds these when it begins. Here they are found in the same way, so that results of
ensembles join the lines of earlier ones.
"""

import io
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from asv import environment
from asv.benchmarks import Benchmarks
from asv.config import Config
from asv.environment import Environment
from asv.machine import Machine
from asv.repo import get_repo
from asv.util import UserError

from deepbench_ops import project
from deepbench_ops.asv_adapter import (
    atomic_asv_json,
    machine_command,
    machine_entry,
    result_saving,
    run_command,
)
from deepbench_ops.asv_adapter.asv_environment import ReleaseEnvironment, is_of_this_process
from deepbench_ops.asv_adapter.patch_installation import applied
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.machine import machine_profile
from deepbench_ops.measure import core_choice
from deepbench_ops.measure.nominal_readings import NominalReadings
from deepbench_ops.releases.release_table import Release
from deepbench_ops.run_conditions import CONDITIONS
from deepbench_ops.storage import locks

DOING = "deepbench history"

Benchmark = Mapping[str, Any]


@dataclass(frozen=True)
class FilingTarget:
    """Folder, machine, environment and benchmarks under which results are filed.

    results: the folder. machine: asv's description of it. environment, variables: name and
    variables of asv's environment. benchmarks: asv's description of each, by name. nominal: the
    yardstick's readings on the quiet machine. levels: of core latency in nanoseconds, by which the
    machine's states are known.
    """

    results: Path
    machine: Mapping[str, str]
    environment: str
    variables: Mapping[str, str]
    benchmarks: Mapping[str, Benchmark]
    nominal: NominalReadings
    levels: Sequence[float] = ()

    @property
    def folder(self) -> Path:
        """The machine's folder of results."""
        return self.results / self.machine["machine"]


def find(release: Release, say: Callable[[str], object]) -> FilingTarget:
    """Return the filing target of the project, on this machine.

    release: one that is installed, which names the benchmarks. say: is called with a line where
    something is done first. An undescribed machine is described, and the nominal readings of its
    yardsticks are taken where the profile lacks them.
    Raises DeepbenchError for a machine that has results of another processor or under another
    description, and where no environment of the configuration has the run's conditions.
    """
    try:
        conf = _configuration()
        machine = _machine(conf, say)
        fit = _environment(conf)
        benchmarks = _benchmarks(conf, fit, release)
    except UserError as error:
        raise DeepbenchError(str(error)) from None
    known = machine_profile.read(Path(conf.results_dir), machine["machine"])
    return FilingTarget(
        Path(conf.results_dir),
        machine,
        fit.name,
        dict(fit.env_vars),
        benchmarks,
        NominalReadings.given(),
        known.latencies if known else (),
    )


def demand_environment() -> None:
    """Raise DeepbenchError where no environment of the configuration has this run's conditions."""
    try:
        _environment(_configuration())
    except (UserError, RuntimeError) as error:  # asv raises the latter without a type
        raise DeepbenchError(str(error)) from None


def _configuration() -> Config:
    """Return asv's configuration of the project, with paths that hold in any folder."""
    root = project.root().resolve()
    conf = Config.load(str(root / project.CONFIGURATION))
    for name in ("benchmark_dir", "env_dir", "results_dir", "html_dir", "repo"):
        setattr(conf, name, str(root / getattr(conf, name)))
    return conf


def _machine(conf: Config, say: Callable[[str], object]) -> dict[str, str]:
    name = machine_command.demand_same_machine(conf, None, say)
    for line in run_command.without_readings(conf, name):
        say(line)
    with applied([*atomic_asv_json.PATCHES, *machine_entry.PATCHES, *result_saving.PATCHES]):
        machine = Machine.load(machine_name=name)
        with redirect_stdout(io.StringIO()):
            machine.save(conf.results_dir)
    found: dict[str, str] = dict(machine.__dict__)
    return found


def _environment(conf: Config) -> Environment:
    """Return the environment that has the conditions of this process. Raises UserError."""
    for each in environment.get_environments(conf, None):
        if isinstance(each, ReleaseEnvironment) and is_of_this_process(each.env_vars):
            return each
    asked = [f"{condition.name} {condition.of(os.environ)}" for condition in CONDITIONS]
    if cores := os.environ.get(core_choice.VARIABLE):
        asked.append(f"cores {cores}")
    text = ", ".join(asked)
    raise UserError(
        f"asv.conf.json has no environment with {text}: add the values to matrix, as its comments"
        " show"
    )


def _benchmarks(conf: Config, fit: Environment, release: Release) -> dict[str, Benchmark]:
    """Return the suite's benchmarks, and store asv's list of them."""
    with redirect_stdout(io.StringIO()), applied(atomic_asv_json.PATCHES):
        found = Benchmarks.discover(conf, get_repo(conf), [fit], [release.hash])
        with locks.results(Path(conf.results_dir), DOING):
            found.save()
    return dict(found)
