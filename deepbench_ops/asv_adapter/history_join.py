"""Points of an `asv run` that join a history: they are measured in an ensemble, not on their own.

A framework whose releases were measured together on this machine (`deepbench history`) goes on in
the same way: kernels that its history has are measured in a block of the anchor, the release before
and the new one, and the run leaves them out. DEEPBENCH_ALONE=1 switches this off. A run first finds
the joining kernels (`plans`), asks about their seconds together with those of all other points
(`run_forecast`), and then measures them (`measured`).
"""

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from asv.config import Config
from asv.console import log
from asv.repo import get_repo

from deepbench_ops import project
from deepbench_ops.asv_adapter import machine_entry
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.measure.kernel_identity import KernelIdentity
from deepbench_ops.problems.selections import CLASSES
from deepbench_ops.releases.release_table import Release
from deepbench_ops.storage import ensemble_round_files
from deepbench_ops.storage.result_key import ResultKey

ALONE_VARIABLE = "DEEPBENCH_ALONE"
"""Variable that is 1 where `asv run` measures every release on its own."""

OWN_WAYS = ("dry_run", "quick", "profile", "append_samples", "set_commit_hash", "env_spec")
"""Options of `asv run` that ask for something else than new times of a release."""


@dataclass(frozen=True)
class Joining:
    """Kernels of one framework that are measured in ensembles, on some of the releases of a run."""

    framework: str
    releases: Sequence[Release]
    tasks: Sequence[KernelIdentity]


@dataclass(frozen=True)
class JoiningPlan:
    """The kernels that join the history of a framework, before they are measured.

    points: those of the run that a kernel stands for. seconds: expected, by kernel; 0 for those
    that the history has already.
    """

    joining: Joining
    points: Mapping[KernelIdentity, set[ResultKey]]
    seconds: Mapping[KernelIdentity, float]

    def left_out(self, done: Mapping[str, Iterable[KernelIdentity]]) -> dict[str, set[ResultKey]]:
        """Return by release's hash the points of these kernels, given by release's name."""
        return {
            release.hash: {key for task in done.get(release.name, ()) for key in self.points[task]}
            for release in self.joining.releases
        }

    @property
    def expected(self) -> dict[str, set[ResultKey]]:
        """The points that the run leaves out where all kernels can be measured."""
        return self.left_out({release.name: self.points for release in self.joining.releases})


@dataclass(frozen=True)
class Joiner:
    """The functions that measure the kernels that join a history.

    measure: measures and files; returns by release's name the kernels that the run is to leave out.
    forecast: returns the seconds that this takes, by kernel; none where nothing can join.
    """

    measure: Callable[[Joining], Mapping[str, set[KernelIdentity]]]
    forecast: Callable[[Joining], Mapping[KernelIdentity, float]]


_joiner: list[Joiner] = []


def use(joiner: Joiner) -> None:
    """Let `joiner` measure the kernels that join a history."""
    _joiner[:] = [joiner]


def plans(conf: Config, commits: Iterable[str], options: Mapping[str, Any]) -> list[JoiningPlan]:
    """Return a plan for each history that a run of these releases, by their hashes, joins.

    options: those of `asv run`. Nothing is measured. Raises DeepbenchError for a damaged file of
    rounds.
    """
    if not _joiner or os.environ.get(ALONE_VARIABLE) == "1" or not _is_plain(conf, options):
        return []
    found: list[JoiningPlan] = []
    folder = Path(conf.results_dir) / machine_entry.default_name()
    repo = get_repo(conf)
    by_framework: dict[str, list[Release]] = defaultdict(list)
    for commit in commits:
        release = repo.release(commit)
        if release.measurable:
            by_framework[release.framework].append(release)
    for framework, releases in by_framework.items():
        content = ensemble_round_files.load(ensemble_round_files.path_of(folder, framework))
        kernels = dict.fromkeys(
            KernelIdentity(*ensemble_round_files.kernel_of(each)) for each in content.entries
        )
        asked = {task: keys for task in kernels if (keys := _asked(task, options.get("bench")))}
        joining = Joining(framework, releases, list(asked))
        seconds = _joiner[0].forecast(joining) if asked else {}
        if seconds:
            found.append(JoiningPlan(joining, asked, seconds))
    return found


def measured(found: Iterable[JoiningPlan]) -> dict[str, set[ResultKey]]:
    """Measure and file the joining kernels; return by release's hash the points to leave out."""
    left_out: dict[str, set[ResultKey]] = {}
    for plan in found:
        log.info(
            f"{plan.joining.framework} has a history on this machine: {len(plan.points)} of its"
            " kernels are measured together with earlier releases, the others on their own"
            f" ({ALONE_VARIABLE}=1 measures all on their own)"
        )
        log.flush()
        left_out |= plan.left_out(_joiner[0].measure(plan.joining))
    return left_out


def _is_plain(conf: Config, options: Mapping[str, Any]) -> bool:
    """Whether a run asks for new times of releases, in the project's results of this machine."""
    machine = options.get("machine")
    try:
        own = project.results().resolve()
    except DeepbenchError:
        return False
    return (
        not any(options.get(name) for name in OWN_WAYS)
        and machine in (None, machine_entry.default_name())
        and Path(conf.results_dir).resolve() == own
    )


def hashes(conf: Config, range_spec: Any) -> list[str]:
    """Return the releases that a run is about, none for ranges that only asv itself resolves."""
    repo = get_repo(conf)
    if isinstance(range_spec, list):
        return range_spec
    if range_spec == "ALL":
        return list(repo.get_new_branch_commits(conf.branches, []))
    special = range_spec in ("NEW", "EXISTING", "HEAD", "TAGS")
    if special or not isinstance(range_spec, str) or range_spec.startswith("HASHFILE:"):
        return []
    return list(repo.get_hashes_from_range(range_spec))


def _asked(task: KernelIdentity, patterns: Iterable[str] | None) -> set[ResultKey]:
    """Return the points of a kernel that patterns of `asv run --bench` pick, in every set."""
    wanted = [re.compile(each) for each in patterns or ()]
    parameters = (task.problem, task.precision)
    text = ", ".join(map(repr, parameters))
    names = (f"{task.family}.{kind}.kernel_{task.operation}" for kind in CLASSES.values())
    return {
        (name, parameters)
        for name in names
        if not wanted or any(each.search(f"{name}({text})") for each in wanted)
    }
