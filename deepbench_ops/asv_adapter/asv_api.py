"""Functions and classes of asv that the benchmarks and tests of this repository call directly.

asv does not document them. If a new version of asv moves or changes one of them, only this module
and the others of this folder need a change.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import asv
from asv import environment, repo, results, step_detect
from asv.benchmarks import Benchmarks
from asv.commands import run
from asv.commands.compare import Compare
from asv.commands.publish import Publish
from asv.commands.show import Show
from asv.config import Config
from asv.console import log
from asv.environment import Environment, EnvironmentUnavailable
from asv.machine import Machine, MachineCollection
from asv.repo import Repo
from asv.results import Results, get_filename
from asv.runner import BenchmarkResult, ForkServer
from asv.util import ProcessError, UserError, check_output, write_json

__all__ = [
    "EnvironmentUnavailable",
    "ForkServer",
    "ProcessError",
    "Results",
    "UserError",
    "check_output",
    "log",
]

INDEX_PAGE = Path(asv.__file__).parent / "www" / "index.html"
"""asv's own first page, as its distribution has it."""

MACHINE_FIELDS = tuple(name for name, _ in Machine.fields)
"""Names of the facts in asv's description of a machine."""


def configuration(values: Mapping[str, Any]) -> Config:
    """Return asv's configuration with these values, asv's defaults for the others."""
    return Config.from_json(dict(values))


def configuration_file(path: Path) -> Config:
    """Return asv's configuration from a file."""
    return Config.load(str(path))


def publish(conf: Config) -> int:
    """Run `asv publish`; return its exit status."""
    return int(Publish.run(conf) or 0)


def compare(conf: Config, old: str, new: str, machine: str, factor: float = 1.1) -> None:
    """Run `asv compare` for two releases on a machine."""
    Compare.run(conf, old, new, factor=factor, machine=machine)


def show(conf: Config, commit: str | None = None, durations: bool = False) -> None:
    """Run `asv show` for a release, or for the list of all."""
    Show.run(conf=conf, commit=commit, durations=durations)


def build(place: Environment, conf: Config, source: Repo, commit: str) -> bool:
    """Run the step of `asv run` that installs a release; return whether it succeeded."""
    built: bool = run._do_build((place, conf, source, commit))[1][0]
    return built


def environments(conf: Config) -> Iterator[Environment]:
    """Yield the environments of a configuration."""
    yield from environment.get_environments(conf, None)


def repository(conf: Config) -> Repo:
    """Return the repository that a configuration names."""
    return repo.get_repo(conf)


def benchmarks(
    conf: Any, entries: Iterable[Mapping[str, Any]], expression: str | None = None
) -> Benchmarks:
    """Return asv's list of benchmarks, of those that match the regular expression.

    conf: a configuration, or any object with its `benchmark_dir`.
    """
    return Benchmarks(conf, list(entries), expression)


def write_benchmarks(path: Path, entries: Mapping[str, Any]) -> None:
    """Write asv's benchmarks.json."""
    write_json(str(path), dict(entries), Benchmarks.api_version)


def machine_defaults() -> dict[str, str]:
    """Return the facts that asv itself would enter for this machine."""
    found: dict[str, str] = Machine.get_defaults()
    return found


def save_machine(name: str, entry: Mapping[str, str]) -> None:
    """Write a machine's entry into the user's file of machines."""
    MachineCollection.save(name, dict(entry))


def result_name(machine: str, commit: str, place: str) -> str:
    """Return the path of a result below the results folder. place: the environment's name."""
    found: str = get_filename(machine, commit, place)
    return found


def stored_results(folder: str | Path) -> Iterator[Results]:
    """Yield the results in a results folder, as asv reads them."""
    yield from results.iter_results(str(folder))


def machine_results(folder: str | Path, machine: str) -> Iterator[Results]:
    """Yield the results of a machine, as asv reads them."""
    yield from results.iter_results_for_machine(str(folder), machine)


def run_outcome(
    values: Sequence[float], samples: Sequence[Any], numbers: Sequence[int | None]
) -> BenchmarkResult:
    """Return the result of asv's runner for a benchmark that succeeded: seconds, samples, calls."""
    return BenchmarkResult(list(values), list(samples), list(numbers), 0, "", None)


def detect_steps(values: Sequence[float]) -> list[tuple[Any, ...]]:
    """Return the steps that asv finds: begin, end, level, smallest value and mean error of each."""
    found: list[tuple[Any, ...]] = step_detect.detect_steps(list(values))
    return found
